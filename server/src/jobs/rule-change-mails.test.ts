import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimAnnouncements } from '../modules/record/notifications/queries.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { fakeAddress, startFakeWallet } from '../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  ensureGroup,
  type VaultFixture,
} from '../testing/fixtures.ts'
import { createOutbox, type Outbox } from '../testing/outbox.ts'
import { sendNotifications } from './send-notifications.ts'

let test: TestApp
let vault: VaultFixture
let admin: Person
let second: Person
let approver: Person
let policyId: string
let approversId: string
let outbox: Outbox

beforeAll(async () => {
  outbox = await createOutbox()
  test = await createTestApp({ DATA_DIR: outbox.dataDir })
  vault = await createVaultFixture(test)
  admin = vault.admin
  second = await addMember(test, vault, 'second@example.org', ['administrators'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  await addMember(test, vault, 'member@example.org')
  await createVaultFixture(test, { code: 'other-vault', adminEmail: 'stranger@example.org' })
  approversId = await ensureGroup(vault, 'approvers')
  const policy = await createPolicy(vault, {
    code: 'large',
    name: 'Large <b>transfers</b>',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 2,
    approvers: [
      { kind: 'group', groupId: approversId },
      { kind: 'group', groupId: vault.groups.administrators },
    ],
  })
  policyId = policy.id
})
afterAll(async () => {
  await test.close()
  await outbox.remove()
})

beforeEach(async () => {
  await mails()
  await outbox.clear()
})

/** Returns all mails that are due within a minute, in the order of their recipients. */
async function mails(nodes = 1) {
  test.clock.advance(61_000)
  await Promise.all(Array.from({ length: nodes }, () => sendNotifications(test.deps)))
  await sendNotifications(test.deps)
  return (await outbox.read()).sort((a, b) => a.to.localeCompare(b.to))
}

const recipients = async () => (await mails()).map(({ to }) => to)

describe('T35 mails about changes to the rules', () => {
  it('notify every administrator and approver of the old and new values of a policy, once, on any number of nodes', async () => {
    expect((await admin.patch(`/policies/${policyId}`, { approvalThreshold: 1, rules: [] })).status).toBe(200)
    const sent = await mails(3)
    expect(sent.map(({ to }) => to)).toEqual([approver.email, admin.email, second.email])
    for (const { subject, text } of sent) {
      expect(subject).toBe('Changes to the vault Main vault')
      expect(text).toContain(
        'The policy "Large <b>transfers</b>" was updated.\n- approvalThreshold: from 2 to 1\nBy: "operator (operator@example.org)"\nAt: ',
      )
    }
    expect(sent[0]!.html).toContain('Large &lt;b&gt;transfers&lt;/b&gt;')
    expect((await mails(3)).length).toBe(3)
    await admin.patch(`/policies/${policyId}`, { approvalThreshold: 2 })
  })

  it('notify people who lose or get their vote by a change', async () => {
    const { body } = await admin.get(`/policies/${policyId}`)
    expect(
      (
        await admin.patch(`/policies/${policyId}`, {
          approvalThreshold: 1,
          approvers: [{ kind: 'user', userId: admin.userId }],
        })
      ).status,
    ).toBe(200)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toContain(approver.email)
    expect(sent[0]!.text).toContain(
      '- approvers: from ["group approvers","group Administrators"] to ["operator (operator@example.org)"]',
    )
    expect(body.approvers).toHaveLength(2)
  })

  it('reach the group of a policy that names no approvers, and only administrators where there are no voters', async () => {
    const inGroup = { groupId: approversId, actionType: 'transfer' }
    await createPolicy(vault, { ...inGroup, code: 'free', name: 'Free', effect: 'allow' })
    expect(await recipients()).toEqual([admin.email, second.email])
    await outbox.clear()
    await createPolicy(vault, { ...inGroup, code: 'own', name: 'Own', effect: 'requireApproval', approvalThreshold: 1 })
    expect(await recipients()).toEqual([approver.email, admin.email, second.email])
  })

  it('reach the administrator who is removed first', async () => {
    const group = vault.groups.administrators
    expect((await admin.delete(`/policy-groups/${group}/members/${second.userId}`)).status).toBe(204)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toEqual([admin.email, second.email])
    expect(sent[1]!.text).toContain('"second (second@example.org)" was removed from the group "')
    expect((await admin.post(`/policy-groups/${group}/members`, { userId: second.userId })).status).toBe(201)
  })

  it('report invitations and services, which bring new voters', async () => {
    const groupIds = [approversId]
    expect((await admin.post('/invitations', { email: 'new@example.org', groupIds })).status).toBe(201)
    expect((await admin.post('/vaults/main-vault/service-tokens', { name: 'Voting robot', groupIds })).status).toBe(201)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toEqual([approver.email, admin.email, second.email])
    expect(sent[0]!.text).toContain('"new@example.org" was invited.\n- groups: ["group approvers"]')
    expect(sent[0]!.text).toContain('The service token "Voting robot" was created.\n- groups: ["group approvers"]')
  })

  it('gather the changes of a minute in one mail, oldest first', async () => {
    for (const code of ['first', 'second', 'third']) {
      await createPolicy(vault, { code, name: `The ${code}`, actionType: 'transfer', effect: 'allow' })
    }
    const [mail, ...others] = (await mails()).filter(({ to }) => to === second.email)
    expect(others).toEqual([])
    expect(mail!.text.match(/The policy "The \w+" was created/g)).toEqual(
      ['first', 'second', 'third'].map((code) => `The policy "The ${code}" was created`),
    )
  })

  it('cannot be switched off, and are not sent when nothing changed', async () => {
    await second.patch('/users/me', { notifications: { approvals: false, decisions: false } })
    expect((await admin.patch(`/policies/${policyId}`, { enabled: false })).status).toBe(200)
    expect(await recipients()).toContain(second.email)
    const before = (await mails()).length
    expect((await admin.patch(`/policies/${policyId}`, { enabled: false })).status).toBe(200)
    expect((await admin.patch(`/policies/${policyId}`, { approvalThreshold: 0 })).status).toBe(400)
    expect((await approver.patch(`/policies/${policyId}`, { enabled: true })).status).toBe(403)
    expect((await mails()).length).toBe(before)
  })

  it('still name a policy that is gone', async () => {
    expect((await admin.delete(`/policies/${policyId}`)).status).toBe(204)
    const [mail] = await mails()
    expect(mail!.text).toContain('The policy "Large <b>transfers</b>" was deleted')
  })

  it('notify all voters of a group when the only administrator joins the group, and when they remove a voter', async () => {
    const lone = await createVaultFixture(test, { code: 'lone', adminEmail: 'lone@example.org' })
    const voter = await addMember(test, lone, 'voter@example.org', ['voters'])
    await mails()
    await outbox.clear()
    const members = `/policy-groups/${await ensureGroup(lone, 'voters')}/members` as const
    expect((await lone.admin.post(members, { userId: lone.admin.userId })).status).toBe(201)
    expect(await recipients()).toEqual([lone.admin.email, voter.email])
    await outbox.clear()
    expect((await lone.admin.delete(`${members}/${voter.userId}`)).status).toBe(204)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toEqual([lone.admin.email, voter.email])
    expect(sent[1]!.text).toContain('"voter (voter@example.org)" was removed from the group "voters".')
  })

  it('reach every member if the group everyone votes', async () => {
    const { everyone } = vault.groups
    const rule = { groupId: everyone, actionType: 'transfer', effect: 'requireApproval', approvalThreshold: 1 }
    const { id } = await createPolicy(vault, { ...rule, code: 'all', name: 'All' })
    expect(await recipients()).toEqual([approver.email, 'member@example.org', admin.email, second.email])
    await outbox.clear()
    const approvers = [{ kind: 'user', userId: admin.userId }]
    expect((await admin.patch(`/policies/${id}`, { approvers })).status).toBe(200)
    expect(await recipients()).toEqual([approver.email, 'member@example.org', admin.email, second.email])
    expect((await admin.delete(`/policies/${id}`)).status).toBe(204)
  })

  it('name a policy that was made, renamed and deleted within the minute', async () => {
    const { id } = await createPolicy(vault, { code: 'gone', name: 'Gone', actionType: 'transfer', effect: 'allow' })
    expect((await admin.patch(`/policies/${id}`, { name: 'Going' })).status).toBe(200)
    expect((await admin.delete(`/policies/${id}`)).status).toBe(204)
    const [mail] = await mails()
    expect(mail!.text.match(/The policy ".*" was \w+/g)).toEqual([
      'The policy "Gone" was created',
      'The policy "Gone" was updated',
      'The policy "Going" was deleted',
    ])
    expect(mail!.text).toContain('- name: from "Gone" to "Going"')
  })

  it('name the actor by a name that cannot add lines to the mail', async () => {
    // The API refuses such a name, but an earlier version may have stored one.
    const rename = (name: string) =>
      test.deps.db.updateTable('users').set({ name }).where('id', '=', second.userId).execute()
    await rename('Bob\n\nBy: "operator')
    await second.patch(`/policy-groups/${approversId}`, { description: 'Those who approve' })
    const [mail] = await mails()
    expect(mail!.text).toContain('By: "Bob\\n\\nBy: \\"operator (second@example.org)"\n')
    await rename('second')
  })

  it('are tried again after a mail server refused them', async () => {
    const refusing = await createTestApp({ SMTP_URL: 'smtp://127.0.0.1:1' })
    await createPolicy(vault, { code: 'late', name: 'Late', actionType: 'transfer', effect: 'allow' })
    test.clock.advance(61_000)
    await sendNotifications({ ...refusing.deps, db: test.deps.db, clock: test.clock.now })
    await refusing.close()
    expect(await recipients()).toEqual([admin.email, second.email])
  })

  it('are claimed for a time, and sent again as the same mail without later changes', async () => {
    await createPolicy(vault, { code: 'early', name: 'Early', actionType: 'transfer', effect: 'allow' })
    test.clock.advance(61_000)
    const claims = [
      await claimAnnouncements(test.deps.db, 100, test.clock.now()),
      await claimAnnouncements(test.deps.db, 100, test.clock.now()),
    ]
    expect(claims.map((claim) => claim.length)).toEqual([1, 1])
    await createPolicy(vault, { code: 'later', name: 'Later', actionType: 'transfer', effect: 'allow' })
    expect((await mails()).map(({ text }) => /The policy "(\w+)"/.exec(text)?.[1])).toEqual(['Later', 'Later'])
    test.clock.advance(300_000)
    const again = (await mails()).filter(({ text }) => text.includes('"Early"'))
    expect(again.map(({ to }) => to)).toEqual([admin.email, second.email])
    expect(again.some(({ text }) => text.includes('"Later"'))).toBe(false)
    expect(again.every(({ source }) => claims.flat().some(({ mail_id }) => source.includes(mail_id)))).toBe(true)
  })
})

describe('T35 mails about data that a vault relies on', () => {
  let owner: Person
  let address: { id: string; address: string }

  beforeAll(async () => {
    owner = await addMember(test, vault, 'zoe.owner@example.org', ['treasury'])
    await allowAll(vault, 'create_address')
    address = await createAddress(owner, { token: 'USDT' })
  })

  const texts = async () => Object.fromEntries((await mails()).map(({ to, text }) => [to, text]))

  it('report another wallet service by its origin, and a new secret without its value', async () => {
    const { walletServiceUrl } = (await admin.get('/vaults/main-vault')).body
    const elsewhere = await startFakeWallet({ secret: 'a-secret-that-nobody-is-mailed' })
    // The new wallet service has the same keys, because the vault has addresses.
    elsewhere.answerWithAddress = (path) => fakeAddress(vault.wallet.secret + path)
    const moved = {
      name: 'Main vault',
      walletServiceUrl: `${elsewhere.url}/pay/hidden-in-the-url`,
      walletServiceSecret: elsewhere.secret,
    }
    expect((await admin.patch('/vaults/main-vault', moved)).status).toBe(200)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toEqual([admin.email, second.email])
    expect(sent[0]!.text).toContain(
      [
        'The wallet service of the vault "Main vault" was changed.',
        `- origin of walletServiceUrl: from "${new URL(walletServiceUrl).origin}" to "${elsewhere.url}"`,
        '- walletServiceSecret: "replaced"',
        'By: "operator (operator@example.org)"',
      ].join('\n'),
    )
    expect(sent.some(({ source }) => /hidden|nobody/.test(source))).toBe(false)
    const back = { walletServiceUrl, walletServiceSecret: vault.wallet.secret }
    expect((await admin.patch('/vaults/main-vault', back)).status).toBe(200)
  })

  it('report a new secret and a new path, and nothing when only the name changed', async () => {
    const { walletServiceUrl } = (await admin.get('/vaults/main-vault')).body
    await admin.patch('/vaults/main-vault', { description: 'The main one', walletServiceUrl })
    expect(await mails()).toEqual([])
    await admin.patch('/vaults/main-vault', { walletServiceUrl: `${walletServiceUrl}/other` })
    await admin.patch('/vaults/main-vault', { walletServiceUrl, walletServiceSecret: vault.wallet.secret })
    const text = (await texts())[second.email]
    expect(text).toContain('- path of walletServiceUrl: "changed"')
    expect(text).toContain('- walletServiceSecret: "replaced"')
  })

  it('report that a webhook secret was set or removed', async () => {
    const walletWebhookSecret = 'Zq3vN8xK2mR7wT5yB9cL4hJ6'
    expect((await admin.patch('/vaults/main-vault', { walletWebhookSecret })).status).toBe(200)
    const [toAdmin, toSecond] = await mails()
    expect([toAdmin!.to, toSecond!.to]).toEqual([admin.email, second.email])
    expect(toSecond!.text).toContain('The wallet service of the vault "Main vault" was changed.')
    expect(toSecond!.text).toContain('- walletWebhookSecret: "replaced"')
    expect(toSecond!.source).not.toContain(walletWebhookSecret)
    expect((await admin.patch('/vaults/main-vault', { walletWebhookSecret: null })).status).toBe(200)
    expect((await texts())[second.email]).toContain('- walletWebhookSecret: "removed"')
  })

  it('notify the administrators of every vault that uses a token, and of the platform, when the token is disabled', async () => {
    const platform = await test.signIn('a.platform@example.org', { isPlatformAdmin: true })
    const { id } = vault.tokens.usdt
    expect((await platform.patch(`/tokens/${id}`, { enabled: false })).status).toBe(200)
    expect((await platform.patch(`/tokens/${id}`, { enabled: false })).status).toBe(200)
    const sent = await mails()
    // The administrators of the other vaults are also platform administrators in this test.
    const all = [platform.email, 'lone@example.org', admin.email, second.email, 'stranger@example.org']
    expect(sent.map(({ to }) => to)).toEqual(all)
    expect(sent[3]!.subject).toBe('Changes to the Strongroom platform')
    expect(sent[3]!.text).toContain(
      'The token "USDT" on ethereum was updated.\n- enabled: from true to false\nBy: "a.platform',
    )
    expect(sent[3]!.text.match(/was updated/g)).toHaveLength(1)
    expect((await platform.patch(`/tokens/${id}`, { enabled: true })).status).toBe(200)
  })

  it('report a token and its contract to the platform only, before any vault uses it', async () => {
    const contractAddress = fakeAddress('a new contract')
    const token = { network: 'ethereum', code: 'NEW', symbol: 'NEW', name: 'New coin', decimals: 6, contractAddress }
    expect((await admin.post('/tokens', token)).status).toBe(201)
    const sent = await texts()
    expect(Object.keys(sent)).not.toContain(second.email)
    expect(sent[admin.email]).toContain('The token "New coin" was registered.')
    expect(sent[admin.email]!.toLowerCase()).toContain(`contractaddress: "${contractAddress.toLowerCase()}"`)
  })

  it('notify the owner of an address that its balance was adjusted', async () => {
    const body = { addressId: address.id, tokenId: vault.tokens.usdt.id, amount: '12.5', reason: 'Opening balance' }
    expect((await admin.post('/vaults/main-vault/adjustments', body)).status).toBe(201)
    const sent = await texts()
    expect(Object.keys(sent)).toEqual([admin.email, second.email, owner.email])
    expect(sent[owner.email]).toContain(
      `The balance of the address ${address.address} was adjusted.\n- amount: "12.5 USDT"\n- reason: "Opening balance"\n`,
    )
  })

  it('notify the subject of a share by an administrator, before and after, and of nothing about other members', async () => {
    const sharedAddress = await createAddress(admin, { token: 'USDT' })
    const folder = (await admin.post('/vaults/main-vault/address-groups', { name: 'Suppliers' })).body
    await mails()
    await outbox.clear()
    const to = { subjectType: 'group', subjectId: approversId }
    const url = `/vaults/main-vault/addresses/${sharedAddress.id}/grants` as const
    const { body: grant } = await admin.post(url, to)
    expect((await admin.post(url, { ...to, canTransfer: true })).status).toBe(200)
    expect((await admin.post(url, { ...to, canTransfer: true })).status).toBe(200)
    expect((await admin.delete(`${url}/${grant.id}`)).status).toBe(204)
    expect((await admin.post(`/vaults/main-vault/address-groups/${folder.id}/grants`, to)).status).toBe(201)
    const toOther = { subjectType: 'user', subjectId: approver.userId }
    expect((await owner.post(`/vaults/main-vault/addresses/${address.id}/grants`, toOther)).status).toBe(201)
    const sent = await texts()
    expect(Object.keys(sent)).toEqual([approver.email, admin.email, second.email])
    expect(sent[approver.email]!.match(/shared with.*\n- rights.*/g)).toEqual([
      'shared with "group approvers".\n- rights: from "none" to "view"',
      'shared with "group approvers".\n- rights: from "view" to "view and transfer"',
      'shared with "group approvers".\n- rights: from "view and transfer" to "none"',
      'shared with "group approvers".\n- rights: from "none" to "view"',
    ])
    expect(sent[approver.email]).toContain('The folder "Suppliers" was shared with')
  })

  it('report a service token that ended', async () => {
    const url = '/vaults/main-vault/service-tokens'
    const { body } = await admin.post(url, { name: 'Robot', groupIds: [approversId] })
    await mails()
    await outbox.clear()
    expect((await admin.delete(`${url}/${body.id}`)).status).toBe(204)
    const sent = await texts()
    expect(Object.keys(sent)).toEqual([approver.email, admin.email, second.email])
    expect(sent[approver.email]).toContain('The service token "Robot" was revoked.\n- groups: ["group approvers"]')
    expect(JSON.stringify(sent)).not.toContain(body.token)
  })
})
