import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { allowAll } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyTransfers } from '../transfers/compare-order.ts'
import { verifyPayouts } from './compare-payout.ts'

let bench: TransferBench
let address: Address
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
  await allowAll(bench.vault, 'counterparty_create')
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await verifyPayouts(bench.test.deps.db)).differences).toEqual([])
  expect((await verifyTransfers(bench.test.deps.db)).differences).toEqual([])
})

type Row = { externalId: string; fromAddressId: string; toAddress: string; amount: string }
const base = () => `/vaults/${bench.vault.code}/payouts` as const
const rowsOf = (...amounts: string[]): Row[] =>
  amounts.map((amount) => {
    count += 1
    return { externalId: `left-${count}`, fromAddressId: address.id, toAddress: fakeAddress(`left ${count}`), amount }
  })
const order = (rows: Row[], payoutId?: string, by: Person = bench.owner) =>
  by.post(base(), { rows, ...(payoutId === undefined ? {} : { replaces: { payoutId } }) })
const act = (by: Person, id: string, verb: string, body?: object) => by.post(`${base()}/${id}/${verb}`, body)
const read = async (id: string, by: Person = bench.owner) => (await by.get(`${base()}/${id}`)).body

async function waiting(rows: Row[]): Promise<string> {
  const { status, body } = await order(rows)
  expect([status, body.status, body.message]).toEqual([201, 'awaiting_approval', undefined])
  return body.id
}

/** Holds the recipient of a row, who comes into the address book for it. */
async function hold(toAddress: string): Promise<void> {
  const vault = `/vaults/${bench.vault.code}` as const
  const entry = { name: `Held ${count}`, kind: 'company', addresses: [{ network: 'ethereum', address: toAddress }] }
  const created = await bench.owner.post(`${vault}/counterparties`, entry)
  expect(created.status).toBe(201)
  const subject = { subjectType: 'counterparty', subjectId: created.body.id, reason: 'On a list' }
  expect((await bench.vault.admin.post(`${vault}/holds`, subject)).status).toBe(201)
}

describe('a payout with a held row', () => {
  it('is paid without the row by the votes on the new hash alone', async () => {
    const rows = rowsOf('200', '50', '70')
    const id = await waiting(rows)
    expect((await act(bench.firstApprover, id, 'approve')).status).toBe(200)
    await hold(rows[1]!.toAddress)
    expect((await act(bench.secondApprover, id, 'approve')).body.reason).toBe('held')

    const rest = [rows[0]!, rows[2]!]
    const { status, body } = await order(rest, id)
    expect([status, body.status, body.message]).toEqual([201, 'awaiting_approval', undefined])
    const { externalId, toAddress } = rows[1]!
    const leftOut = [{ row: 2, externalId, toAddress, amountDecimal: '50' }]
    expect(body.replaces).toMatchObject({ payoutId: id, leftOut })
    expect(await bench.balances(address.id)).toEqual({ available: '730', reserved: '270' })
    const earlier = await read(id)
    expect(earlier).toMatchObject({ status: 'cancelled', replacedBy: body.id, transfers: { cancelled: 3 } })
    expect(body.payloadHash).not.toBe(earlier.payloadHash)

    // The vote on the old hash does not count, and cannot be cast on the new payout.
    expect(body.approvalRequirements[0]!.approvalsCount).toBe(0)
    const old = { payloadHash: earlier.payloadHash }
    expect((await act(bench.firstApprover, body.id, 'approve', old)).body.reason).toBe('payload_changed')
    expect((await act(bench.secondApprover, id, 'approve')).body.reason).toBe('wrong_state')
    expect((await read(body.id, bench.firstApprover)).replaces).toEqual(body.replaces)
    expect((await act(bench.firstApprover, body.id, 'approve')).body.status).toBe('awaiting_approval')
    expect((await act(bench.secondApprover, body.id, 'approve')).body.status).toBe('approved')
    await bench.deliver()
    await bench.deliver()
    const paid = (await bench.owner.get(`${base()}/${body.id}/rows`)).body.items
    expect(paid.map(({ externalId }) => externalId)).toEqual(rest.map(({ externalId }) => externalId))
    for (const { transferId } of paid) expect(bench.vault.wallet.broadcastCount(transferId)).toBe(1)
    const kept = (await bench.owner.get(`${base()}/${id}/rows`)).body.items
    for (const { transferId } of kept) expect(bench.vault.wallet.broadcastCount(transferId)).toBe(0)
    expect(await bench.audited('payout.cancelled', id)).toBe(1)
    expect(await bench.audited('payout.requested', body.id)).toBe(1)
  })

  it('is previewed without the row, with the funds that the payout reserves, and stays unchanged', async () => {
    const rows = rowsOf('900', '50')
    const id = await waiting(rows)
    const question = { rows: [rows[0]!], replaces: { payoutId: id } }
    const { status, body } = await bench.owner.post(`${base()}/preview`, question)
    expect([status, body.problems, body.rowsCount]).toEqual([200, [], 1])
    expect(body.decision).toMatchObject({ effect: 'approval', requirements: [{ policyCode: 'large' }] })
    expect((await read(id)).status).toBe('awaiting_approval')
    const next = await order([rows[0]!], id)
    expect(next.status).toBe(201)
    await act(bench.owner, next.body.id, 'cancel')
  })

  it('does not count in the velocity of the payout that replaces it', async () => {
    const rows = rowsOf('120', '50', '60')
    const id = await waiting(rows)
    const value = { op: 'gt', value: '3', windowSeconds: 3_600, per: 'sourceAddress' }
    const rules = [{ conditionType: 'require', selectors: [{ selectorType: 'velocityCount', value }] }]
    const limit = await bench.policy({ code: 'rate', effect: 'block', blockReason: 'Too many', rules })
    const rest = rows.slice(0, 2)
    const question = { rows: rest, replaces: { payoutId: id } }
    expect((await bench.owner.post(`${base()}/preview`, question)).body.decision.effect).toBe('approval')
    const { status, body } = await order(rest, id)
    expect([status, body.message]).toEqual([201, undefined])
    expect((await bench.vault.admin.delete(`/policies/${limit.id}`)).status).toBe(204)
    await act(bench.owner, body.id, 'cancel')
  })
})

describe('leaving a row out', () => {
  it('is permitted to the initiator alone', async () => {
    const rows = rowsOf('200', '50')
    const id = await waiting(rows)
    const { admin } = bench.vault
    for (const [by, outcome] of [
      [bench.firstApprover, [403, 'not_permitted']],
      [admin, [403, 'not_permitted']],
    ] as const) {
      const refused = await order([rows[0]!], id, by)
      expect([refused.status, refused.body.reason]).toEqual(outcome)
    }
    const stranger = await order([rows[0]!], 'cmi8h2k1p0a1b2c3d4e5f6g7h')
    expect([stranger.status, stranger.body.reason]).toEqual([404, 'not_found'])
    expect((await read(id)).status).toBe('awaiting_approval')
    await act(bench.owner, id, 'cancel')
  })

  it.each([
    ['of all rows', (rows: Row[]) => rows, 'rows'],
    ['with a further row', (rows: Row[]) => [rows[0]!, ...rowsOf('1')], 'rows.1.externalId'],
    ['with another amount', (rows: Row[]) => [{ ...rows[0]!, amount: '199' }], 'rows.0'],
    ['with another recipient', (rows: Row[]) => [{ ...rows[0]!, toAddress: fakeAddress('other') }], 'rows.0'],
  ])('is refused %s', async (_, changed, field) => {
    const rows = rowsOf('200', '50')
    const id = await waiting(rows)
    const refused = await order(changed(rows), id)
    expect([refused.status, refused.body.details?.[0]?.field]).toEqual([400, field])
    expect((await read(id)).status).toBe('awaiting_approval')
    await act(bench.owner, id, 'cancel')
  })

  it('is refused for a payout that is decided, expired, or has a transfer that is itself held', async () => {
    const rows = rowsOf('200', '50')
    const id = await waiting(rows)
    const transferId = (await bench.owner.get(`${base()}/${id}/rows`)).body.items[0]!.transferId
    const holds = `/vaults/${bench.vault.code}/holds` as const
    const other = await waiting(rowsOf('201', '1'))
    const subject = { subjectType: 'transfer', subjectId: transferId, reason: 'It is looked into' }
    expect((await bench.vault.admin.post(holds, subject)).status).toBe(201)
    expect((await order([rows[1]!], id)).body.reason).toBe('held')
    await act(bench.owner, other, 'cancel')
    const decided = (await bench.owner.get(`${base()}/${other}/rows`)).body.items[0]!
    const row = { ...rows[0]!, externalId: decided.externalId, toAddress: decided.toAddress, amount: '201' }
    expect((await order([row], other)).body.reason).toBe('wrong_state')
  })

  it('leaves the payout as it is when the new payout is refused, and frees no external id', async () => {
    const rows = rowsOf('200', '50')
    const id = await waiting(rows)
    const stop = await bench.policy({ code: 'stop', effect: 'block', blockReason: 'Closed', rules: [] })
    expect((await order([rows[0]!], id)).body.reason).toBe('blocked_by_policy')
    expect(await read(id)).toMatchObject({ status: 'awaiting_approval', replacedBy: null })
    expect((await bench.vault.admin.delete(`/policies/${stop.id}`)).status).toBe(204)
    const next = await order([rows[0]!], id)
    expect(next.status).toBe(201)
    for (const row of rows) expect((await order([row])).body.reason).toBe('already_exists')
    // A second order with the same `replaces` finds the payout decided.
    expect((await order([rows[0]!], id)).body.reason).toBe('wrong_state')
    await act(bench.owner, next.body.id, 'cancel')
    expect((await order([rows[0]!])).body.reason).toBe('already_exists')
  })

  it('is done once by orders at the same time', async () => {
    const rows = rowsOf('200', '50', '60')
    const id = await waiting(rows)
    const answers = await Promise.all([order(rows.slice(1), id), order(rows.slice(0, 2), id), order([rows[0]!], id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const placed = answers.find(({ status }) => status === 201)!
    expect((await read(id)).replacedBy).toBe(placed.body.id)
    if (placed.body.status === 'awaiting_approval') await act(bench.owner, placed.body.id, 'cancel')
  })
})
