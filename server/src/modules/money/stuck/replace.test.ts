import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import { leastIdAt } from '../../../lib/ids.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { createOutbox, linkIn, type Outbox } from '../../../testing/outbox.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { noteStuckTransfers } from './note-stuck.ts'

let bench: TransferBench
let stranger: Person
let outbox: Outbox
let address: Address

beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ STUCK_AFTER_MINUTES: '45', DATA_DIR: outbox.dataDir })
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org')
})
afterAll(async () => {
  await bench.close()
  await outbox.remove()
})
beforeEach(async () => {
  bench.vault.wallet.refuseReplacement = null
  bench.vault.wallet.down = false
  address = await bench.fundedAddress({ eth: '1' })
})

/** Returns a transfer whose transaction waits. */
async function waiting(more: Record<string, unknown> = {}, by?: Person) {
  const { status, body } = await bench.order(address.id, '40', more, by)
  expect([status, body.status]).toEqual([201, 'pending'])
  await bench.deliver()
  bench.vault.wallet.broadcast(body.id)
  await bench.deliver()
  return { id: body.id as string, txHash: fakeTxHash(body.id) }
}

type Action = 'speed-up' | 'cancel-on-chain' | 'replacement-preview'
const ask = (by: Person, id: string, action: Action, body?: object, headers?: Record<string, string>) =>
  by.post(`/vaults/${bench.vault.code}/transfers/${id}/${action}`, body, headers)

const sentTo = (path: string) =>
  bench.vault.wallet.requests.filter((request) => request.path.endsWith(path)).map(({ body }) => body)

describe.each([
  ['speed-up', 'transfer.speed_up_requested'],
  ['cancel-on-chain', 'transfer.cancel_on_chain_requested'],
] as const)('%s', (action, recordedAs) => {
  it('is passed to the wallet service under the same id, recorded, and followed', async () => {
    const { id, txHash } = await waiting()
    const { status, body } = await ask(bench.owner, id, action, { txHash, maxFee: '99' })
    const newHash = fakeTxHash(`${txHash} replaced`)
    expect([status, body.txHash, body.txHashes]).toEqual([200, newHash, [txHash, newHash]])
    expect(sentTo(`/transfers/${id}/${action}`)).toEqual([{ txHash, maxFee: '99' }])
    expect(await bench.audited(recordedAs, id)).toBe(1)
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.balances(address.id)).toEqual({ available: '960', reserved: '40' })
    await bench.expectSoundLedger()
  })

  it('is permitted to the initiator, the owner of the address and administrators only', async () => {
    const { id, txHash } = await waiting()
    expect((await ask(stranger, id, action, { txHash })).status).toBe(404)
    const grant = { subjectType: 'user', subjectId: stranger.userId, canTransfer: true }
    const granted = await bench.owner.post(`/vaults/${bench.vault.code}/addresses/${address.id}/grants`, grant)
    expect(granted.status).toBe(201)
    expect(await ask(stranger, id, action, { txHash })).toMatchObject({
      status: 403,
      body: { reason: 'not_permitted' },
    })
    expect((await ask(stranger, id, 'replacement-preview')).status).toBe(403)
    expect(sentTo(`/transfers/${id}/${action}`)).toEqual([])
    expect((await ask(bench.vault.admin, id, action, { txHash })).status).toBe(200)
  })

  it('replaces nothing when it is repeated, with and without a key', async () => {
    const { id, txHash } = await waiting()
    const key = { 'idempotency-key': `once-${id}` }
    const first = await ask(bench.owner, id, action, { txHash }, key)
    expect(await ask(bench.owner, id, action, { txHash }, key)).toMatchObject({ status: 200, body: first.body })
    expect(await ask(bench.owner, id, action, { txHash })).toMatchObject({
      status: 409,
      body: { reason: 'changed_concurrently' },
    })
    expect(sentTo(`/transfers/${id}/${action}`)).toHaveLength(1)
  })

  it.each([
    ['ABOVE_MAX_FEE: more than 7', 'above_max_fee'],
    ['ALREADY_MINED: in block 5', 'not_replaceable'],
    ['SOMETHING_ELSE: secret words', 'not_replaceable'],
    ['unsupported', 'not_replaceable'],
  ])('that the wallet service refuses with %s is a 409 with our message', async (details, reason) => {
    const { id, txHash } = await waiting()
    bench.vault.wallet.refuseReplacement = details
    const { status, body } = await ask(bench.owner, id, action, { txHash })
    expect([status, body.reason]).toEqual([409, reason])
    expect(JSON.stringify(body)).not.toMatch(/more than 7|block 5|secret words/)
    expect(await bench.read(id)).toMatchObject({ status: 'pending', txHash, haltReason: null })
  })

  it('with an unknown outcome is a 502, and the outcome is found later', async () => {
    const { id, txHash } = await waiting()
    bench.vault.wallet.down = 'error'
    expect((await ask(bench.owner, id, action, { txHash })).status).toBe(502)
    bench.vault.wallet.down = false
    bench.vault.wallet.broadcast(id, { txHash: fakeTxHash(`somebody else ${id}`) })
    await bench.deliver()
    expect((await bench.read(id)).txHash).toBe(fakeTxHash(`somebody else ${id}`))
  })

  it('is a 409 before the hand-over, after the end, and for another transaction', async () => {
    const { body } = await bench.order(address.id, '10')
    expect((await ask(bench.owner, body.id, action, { txHash: null })).body.reason).toBe('wrong_state')
    const { id, txHash } = await waiting()
    const other = await ask(bench.owner, id, action, { txHash: fakeTxHash('another') })
    expect(other.body.reason).toBe('changed_concurrently')
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect((await ask(bench.owner, id, action, { txHash })).body.reason).toBe('wrong_state')
    expect(sentTo(`/transfers/${id}/${action}`)).toEqual([])
  })

  it.each([{}, { txHash: 5 }, { txHash: '' }, { txHash: null, maxFee: '0' }, { txHash: null, fee: '1' }])(
    'with the body %j is a 400',
    async (body) => {
      const { id } = await waiting()
      expect((await ask(bench.owner, id, action, body)).status).toBe(400)
    },
  )

  it('T27 of a transfer that differs from its record halts it, and is not passed on', async () => {
    const { id, txHash } = await waiting()
    await bench.sql('update transfers set max_fee = 1 where id = $1', [id])
    expect(await ask(bench.owner, id, action, { txHash })).toMatchObject({
      status: 409,
      body: { reason: 'transfer_halted' },
    })
    expect(sentTo(`/transfers/${id}/${action}`)).toEqual([])
    expect((await bench.read(id)).haltReason).toContain('maxFee')
  })

  it('T25 answered with another recipient halts the transfer', async () => {
    const { id, txHash } = await waiting()
    Object.assign(bench.vault.wallet.transfer(id)!, { toAddress: address.address })
    expect((await ask(bench.owner, id, action, { txHash })).status).toBe(200)
    expect((await bench.read(id)).haltReason).toContain('recipient')
  })
})

describe('the preview of a replacement', () => {
  it('shows the cost, or the reason why it is impossible', async () => {
    const { id, txHash } = await waiting()
    const maxFee = { amount: '47250000000000', amountDecimal: '0.00004725', asset: 'ETH' }
    const cost = { maxFee, refusal: null, needsApproval: false }
    expect(await ask(bench.owner, id, 'replacement-preview')).toMatchObject({
      status: 200,
      body: { txHash, speedUp: cost, cancelOnChain: cost },
    })
    bench.vault.wallet.refuseReplacement = 'EARLIER_FIRST: transfer 7'
    const refusal = 'An earlier transfer of the address must be mined first'
    const refused = { maxFee: null, refusal, needsApproval: false }
    expect((await ask(bench.owner, id, 'replacement-preview')).body).toMatchObject({ speedUp: refused })
  })
})

describe('a transfer that waits for too long', () => {
  const mailsTo = async (id: string) =>
    (await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'stuck'`, [id])).map(
      ({ user_id }) => user_id,
    )

  it('is shown as stuck, and its initiator gets one mail', async () => {
    const { id } = await waiting()
    await noteStuckTransfers(bench.test.deps)
    expect((await bench.read(id)).stuckSince).toBeNull()
    bench.test.clock.advance(46 * 60_000)
    await Promise.all([noteStuckTransfers(bench.test.deps), noteStuckTransfers(bench.test.deps)])
    await noteStuckTransfers(bench.test.deps)
    expect((await bench.read(id)).stuckSince).toMatch(/Z$/)
    expect(await mailsTo(id)).toEqual([bench.owner.userId])
    // The transfers of earlier tests wait too, and a run sends a limited number of mails.
    const links = async () => {
      await sendNotifications(bench.test.deps)
      const mails = (await outbox.read()).filter(({ to, text }) => to === 'owner@example.org' && text.includes(id))
      return mails.map((mail) => linkIn(mail).pathname)
    }
    await expect.poll(links).toEqual([`/v/${bench.vault.code}/transfers/${id}`])
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', stuckSince: null })
  })

  it('is not stuck while it waits for votes, nor after its end', async () => {
    const { body: voted } = await bench.order(address.id, '200')
    const { id: ended } = await waiting()
    bench.vault.wallet.confirm(ended)
    await bench.deliver()
    bench.test.clock.advance(46 * 60_000)
    await noteStuckTransfers(bench.test.deps)
    for (const id of [voted.id, ended]) {
      expect((await bench.read(id)).stuckSince).toBeNull()
      expect(await mailsTo(id)).toEqual([])
    }
  })

  it('is found through the queues, and the row of a transfer that was ordered lately is not read', async () => {
    await waiting()
    const source = await readFile(new URL('note-stuck.ts', import.meta.url), 'utf8')
    expect(source).toContain('from deliveries q')
    expect(source).toMatch(/q\.id < \$\{leastIdAt\(orderedBefore\)\}/)
    const readRows = (before: Date) =>
      bench.rolledBack(async (query) => {
        await query('set local enable_seqscan = off')
        await query('set local enable_hashjoin = off')
        await query('set local enable_mergejoin = off')
        const plan = await query(`explain (analyze, format json) select s.id from deliveries q
          join transfers s on s.vault_id = q.vault_id and s.id = q.id
          where q.queue in ('hand-over', 'follow') and q.id < '${leastIdAt(before)}' and s.stuck_since is null`)
        expect(JSON.stringify(plan)).toContain('deliveries_due')
        return /"Relation Name": ?"transfers".*?"Actual Loops": ?(\d+)/s.exec(JSON.stringify(plan))![1]
      })
    expect(await readRows(new Date(0))).toBe('0')
    expect(Number(await readRows(new Date(bench.test.clock.now().getTime() + 60_000)))).toBeGreaterThan(0)
  })
})
