import { readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { notifyOfStop } from '../modules/record/notifications/notification-rows.ts'
import { claimNotifications, settleNotification } from '../modules/record/notifications/queries.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { fakeAddress } from '../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
  type VaultFixture,
} from '../testing/fixtures.ts'
import { sendNotifications } from './send-notifications.ts'

let test: TestApp
let vault: VaultFixture
let owner: Person
let approver: Person
let silent: Person
let addressId: string

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  owner = await addMember(test, vault, 'owner@example.org', ['treasury'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  silent = await addMember(test, vault, 'silent.approver@example.org', ['approvers'])
  await allowAll(vault, 'create_address')
  await createPolicy(vault, {
    code: 'one-vote',
    name: 'One vote',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: await ensureGroup(vault, 'approvers') }],
  })
  const address = await createAddress(owner, { token: 'USDT' })
  addressId = address.id
  await deposit(test, { address: address.address, asset: usdtContract, amount: '1000' })
  expect((await silent.patch('/users/me', { notifications: { approvals: false } })).body.notifications).toEqual({
    approvals: false,
    decisions: true,
  })
})
afterAll(() => test.close())

const order = async () => {
  const answer = await owner.post('/vaults/main-vault/transfers', {
    fromAddressId: addressId,
    toAddress: fakeAddress('supplier'),
    amount: '5',
  })
  expect(answer.status).toBe(201)
  return answer.body.id as string
}

/** Returns the recipients and subjects of the mails in the outbox, without mails about changes of rules. */
async function mails(): Promise<string[]> {
  const folder = join(test.deps.config.dataDir, 'outbox')
  const files = await readdir(folder).catch(() => [])
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return texts
    .map(
      (text) =>
        `${/^To: (.*)$/m.exec(text)?.[1]}: ${
          text
            .split('\n\n')[0]
            ?.replace(/\n\s+/g, ' ')
            .match(/^Subject: (.*)$/m)?.[1]
        }`,
    )
    .filter((mail) => !mail.includes('Changes to the'))
    .sort()
}

describe('alarms', () => {
  it('T25 about one transfer are mailed again with the next finding, every few minutes at most', async () => {
    const id = await order()
    const alarm = async (reason: string) => {
      await test.deps.db.updateTable('transfers').set({ halt_reason: reason }).where('id', '=', id).execute()
      const subject = { vaultId: vault.id, subjectType: 'transfer', subjectId: id } as const
      await inTransaction(test.deps.db, (trx) => notifyOfStop(trx, subject, test.clock.now()))
      await sendNotifications(test.deps)
    }
    const stops = async () => (await mails()).filter((mail) => mail.includes('Stopped in Main vault')).length
    await alarm('The wallet service no longer knows this transfer')
    expect(await stops()).toBe(1)
    await alarm('The wallet service reports another recipient')
    expect(await stops()).toBe(1)
    test.clock.advance(300_000)
    await sendNotifications(test.deps)
    expect(await stops()).toBe(2)
    expect((await owner.post(`/vaults/main-vault/transfers/${id}/cancel`)).status).toBe(200)
    await rm(join(test.deps.config.dataDir, 'outbox'), { recursive: true, force: true })
  })
})

describe('an alarm that is queued while the mail before it is sent', () => {
  it('T25 is mailed after the pause', async () => {
    const id = await order()
    const subject = { vaultId: vault.id, subjectType: 'transfer', subjectId: id } as const
    const alarm = () => inTransaction(test.deps.db, (trx) => notifyOfStop(trx, subject, test.clock.now()))
    const due = async () => {
      const claimed = await claimNotifications(test.deps.db, 10, test.clock.now())
      return claimed.filter(({ kind, subject_id }) => kind === 'stopped' && subject_id === id)
    }
    await alarm()
    const [first] = await due()
    await alarm()
    await settleNotification(test.deps.db, first!, test.clock.now())
    test.clock.advance(299_000)
    expect(await due()).toEqual([])
    test.clock.advance(1_000)
    const [repeat] = await due()
    await settleNotification(test.deps.db, repeat!, test.clock.now())
    test.clock.advance(3_600_000)
    expect(await due()).toEqual([])
    expect((await owner.post(`/vaults/main-vault/transfers/${id}/cancel`)).status).toBe(200)
    await sendNotifications(test.deps)
    await rm(join(test.deps.config.dataDir, 'outbox'), { recursive: true, force: true })
  })
})

describe('mails about approvals', () => {
  it('ask each approver once and notify the initiator of the outcome once, on any number of nodes', async () => {
    const id = await order()
    await Promise.all([sendNotifications(test.deps), sendNotifications(test.deps), sendNotifications(test.deps)])
    await sendNotifications(test.deps)
    expect(await mails()).toEqual([
      expect.stringMatching(/^approver@example\.org: Your vote is needed in Main vault: transfer of 5 USDT to 0x/),
    ])

    // T71 a person can choose their name, but not their e-mail address. An approver reads both.
    const [mailFile] = await readdir(join(test.deps.config.dataDir, 'outbox'))
    const text = await readFile(join(test.deps.config.dataDir, 'outbox', mailFile!), 'utf8')
    expect(text.replace(/=?\n/g, ' ').replace(/\s+/g, ' ')).toContain(
      'owner (owner@example.org) requested the transfer',
    )

    expect((await approver.post(`/vaults/main-vault/transfers/${id}/approve`, {})).status).toBe(200)
    await sendNotifications(test.deps)
    await sendNotifications(test.deps)
    expect((await mails()).filter((mail) => mail.startsWith('owner@'))).toEqual([
      expect.stringMatching(/Decided in Main vault: transfer of 5 USDT to 0x\w+ is approved/),
    ])
  })

  it('are not sent for subjects that were decided meanwhile, nor to an initiator who decided', async () => {
    const before = (await mails()).length
    const id = await order()
    expect((await owner.post(`/vaults/main-vault/transfers/${id}/cancel`)).status).toBe(200)
    await sendNotifications(test.deps)
    expect((await mails()).length).toBe(before)
  })

  it('are tried again when the mail server refused them', async () => {
    const other = await createTestApp({ SMTP_URL: 'smtp://127.0.0.1:1' })
    const before = (await mails()).length
    await order()
    await sendNotifications({ ...other.deps, db: test.deps.db })
    test.clock.advance(3_600_000)
    await sendNotifications(test.deps)
    expect((await mails()).length).toBe(before + 1)
    await other.close()
  })

  it('T35 are sent again as the same mail when their outcome is unknown', async () => {
    const smtp = await startForgetfulSmtpServer()
    const other = await createTestApp({ SMTP_URL: smtp.url })
    const deps = { ...other.deps, db: test.deps.db, clock: test.clock.now }
    await order()
    await sendNotifications(deps)
    expect(smtp.messageIds).toHaveLength(1)
    test.clock.advance(3_600_000)
    await sendNotifications(deps)
    test.clock.advance(3_600_000)
    await sendNotifications(deps)
    const [first, second, ...more] = smtp.messageIds
    expect(second).toBe(first)
    expect(more).toEqual([])
    await other.close()
    await smtp.close()
  })

  it('T35 are sent by another node when the node that claimed them died', async () => {
    const before = (await mails()).length
    const id = await order()
    const claimed = await claimNotifications(test.deps.db, 20, test.clock.now())
    expect(claimed.map(({ subject_id }) => subject_id)).toEqual([id])
    await sendNotifications(test.deps)
    expect((await mails()).length).toBe(before)
    test.clock.advance(301_000)
    await sendNotifications(test.deps)
    await sendNotifications(test.deps)
    expect((await mails()).length).toBe(before + 1)
  })
})

/** Starts a mail server that loses the connection after it received the first mail, and accepts later mails. */
async function startForgetfulSmtpServer() {
  const messageIds: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let mail: string | null = null
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('220 ready\r\n')
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (mail === null) {
        if (/^DATA/i.test(text)) mail = ''
        socket.write(mail === '' ? '354 go on\r\n' : '250 yes\r\n')
        return
      }
      mail += text
      if (!mail.endsWith('\r\n.\r\n')) return
      messageIds.push(/^Message-ID: (.*)\r$/im.exec(mail)?.[1] ?? 'none')
      mail = null
      if (messageIds.length === 1) socket.destroy()
      else socket.write('250 taken\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messageIds,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
