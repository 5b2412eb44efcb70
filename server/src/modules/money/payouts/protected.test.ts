import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reportOnFile } from '../../../cli/verify-evidence.ts'
import { isAtPlace, type Place, planPayout } from '../../../lib/signed-payout.ts'
import type { SignedVote, Vote } from '../../../lib/signed-vote.ts'
import type { Address, Answer, PayoutPreview } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import { authorityAnswer } from '../../../testing/fake-authority.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { addPasskey, confirming } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { newVote } from '../../../testing/votes.ts'
import { verifyTransfers } from '../transfers/compare-order.ts'
import { verifyPayouts } from './compare-payout.ts'

let bench: TransferBench
let address: Address
let count = 0
const keys = new Map<Person, Authenticator>()
const base = () => `/vaults/${bench.vault.code}` as const
const payouts = () => `${base()}/payouts` as const
const protect = (protection: string) => bench.vault.admin.put(`${base()}/protection`, { protection })

beforeAll(async () => {
  bench = await createTransferBench()
  const known = [bench.owner, bench.firstApprover, bench.secondApprover]
  for (const person of known) keys.set(person, await addPasskey(person))
  bench.vault.admin = confirming(bench.vault.admin, await addPasskey(bench.vault.admin))
  expect((await protect('votes')).body.protection).toBe('votes')
  const named = known.map((person) => ({ person: person.userId, key: keys.get(person)! }))
  bench.vault.wallet.authority = authorityAnswer(bench.vault.id, named, 7)
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.refuseAuthorization = null
  address = await bench.fundedAddress({ eth: '50' })
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await verifyPayouts(bench.test.deps.db)).differences).toEqual([])
  expect((await verifyTransfers(bench.test.deps.db)).differences).toEqual([])
})

type Row = Record<string, unknown>
const rowOf = (amount: string, more: object = {}): Row => {
  count += 1
  const toAddress = fakeAddress(`paid ${count}`)
  return { externalId: `signed-${count}`, fromAddressId: address.id, toAddress, amount, ...more }
}
const rowsOf = (...amounts: string[]) => amounts.map((amount) => rowOf(amount))

type Preview = NonNullable<PayoutPreview['toSign']>
async function previewed(rows: Row[]): Promise<Preview> {
  const { status, body } = await bench.owner.post(`${payouts()}/preview`, { rows })
  expect(status).toBe(200)
  return body.toSign
}

const signedOf = ({ payoutId, orders, vote }: Preview, key = keys.get(bench.owner)!, changes: Partial<Vote> = {}) => {
  const { expiresAt, rulesVersion } = orders[0]!
  return { payoutId, expiresAt, rulesVersion, vote: key.vote({ ...vote, ...changes }) }
}
const send = (rows: Row[], signed?: object, more: object = {}) =>
  bench.owner.post(payouts(), { rows, ...(signed === undefined ? {} : { signed }), ...more })

async function ordered(rows: Row[]): Promise<string> {
  const { status, body } = await send(rows, signedOf(await previewed(rows)))
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

async function approve(person: Person, id: string, changes: Partial<Vote> = {}) {
  const { payloadHash: hash } = (await person.get(`${payouts()}/${id}`)).body
  const by = { decision: 'approve', person: person.userId } as const
  const vote = newVote({ subject: 'payout', hash, ...by, ...changes })
  return person.post(`${payouts()}/${id}/approve`, { payloadHash: hash, signature: keys.get(person)!.vote(vote) })
}

const rowsRead = async (id: string) => (await bench.owner.get(`${payouts()}/${id}/rows?limit=100`)).body.items
const handedOver = () =>
  bench.vault.wallet.requests.filter(({ method, path }) => method === 'POST' && path === '/transfers')

describe('a payout in a protected vault', () => {
  it('is signed as one, over orders from which a browser computes the document', async () => {
    const rows = [...rowsOf('1', '2', '3'), rowOf('0.5', { token: 'ETH' })]
    const preview = await previewed(rows)
    const { payoutId, orders, vote } = preview
    const paid = await Promise.all(orders.map(async (order) => ({ ...order, order: await hashInBrowser(order) })))
    const { rulesVersion, expiresAt, ...first } = orders[0]!
    const terms = { rulesVersion: rulesVersion!, expiresAt: expiresAt! }
    const { document } = planPayout({ ...first, ...terms, payoutId }, paid)
    expect(await hashInBrowser(document)).toBe(vote.hash)
    expect(document.sums.map(({ amount, rowsCount }) => [amount, rowsCount])).toEqual([
      ['6000000', 3],
      ['500000000000000000', 1],
    ])
    const { status, body } = await send(rows, signedOf(preview), { name: 'Salaries' })
    expect([status, body.id, body.status, body.payloadHash]).toEqual([201, payoutId, 'approved', vote.hash])
    expect((await rowsRead(payoutId)).map(({ payload }) => payload)).toEqual(orders)
  })

  it('is refused without the signature of its initiator over exactly these rows', async () => {
    const rows = rowsOf('1', '2')
    const preview = await previewed(rows)
    const key = keys.get(bench.owner)!
    const reasonOf = async (answer: Promise<Answer>) => (await answer).body.reason
    expect(await reasonOf(send(rows))).toBe('signature_required')
    expect(await reasonOf(send(rows, signedOf(preview, keys.get(bench.firstApprover))))).toBe('signature_required')
    for (const changes of [{ decision: 'approve' }, { subject: 'transfer' }, { person: bench.firstApprover.userId }])
      expect(await reasonOf(send(rows, signedOf(preview, key, changes as Partial<Vote>)))).toBe('signature_required')
    const [first, second] = rows as [Row, Row]
    for (const others of [
      [first],
      [second, first],
      [first, { ...second, amount: '3' }],
      [first, { ...second, toAddress: fakeAddress('the attacker') }],
      [...rows, rowOf('1')],
    ])
      expect(await reasonOf(send(others, signedOf(preview)))).toBe('payload_changed')
    // The id of an order is refused, and so is the id of the payout of another user.
    const { order } = (await bench.owner.post(`${base()}/transfers/preview`, { ...first, externalId: undefined })).body
    const { expiresAt, transferId: payoutId } = order
    expect(await reasonOf(send(rows, { ...signedOf(preview), payoutId, expiresAt }))).toBe('validation_failed')
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('is replaced without a row by one that is signed anew, with a signed end of the votes before', async () => {
    const rows = rowsOf('200', '50')
    const id = await ordered(rows)
    expect((await approve(bench.firstApprover, id)).status).toBe(200)
    const hash = (await bench.owner.get(`${payouts()}/${id}`)).body.payloadHash
    const end = newVote({ subject: 'payout', hash, decision: 'cancel', person: bench.owner.userId })
    const replaces = { payoutId: id, signature: keys.get(bench.owner)!.vote(end) }
    const rest = [rows[0]!]
    const { body: preview } = await bench.owner.post(`${payouts()}/preview`, { rows: rest, replaces })
    expect((await send(rest, undefined, { replaces })).body.reason).toBe('signature_required')
    expect((await send(rows, signedOf(preview.toSign), { replaces })).status).toBe(400)
    const { status, body } = await send(rest, signedOf(preview.toSign), { replaces })
    expect([status, body.status, body.payloadHash]).toEqual([201, 'awaiting_approval', preview.toSign.vote.hash])
    expect((await bench.owner.get(`${payouts()}/${id}`)).body).toMatchObject({
      status: 'cancelled',
      replacedBy: body.id,
    })
    const [kept] = await bench.sql(
      `select decision from signed_votes where subject_id = $1 and user_id = $2 order by decision limit 1`,
      [id, bench.owner.userId],
    )
    expect(kept.decision).toBe('cancel')
    // The signed vote on the earlier payout does not count for this payout.
    expect((await approve(bench.firstApprover, body.id, { hash })).body.reason).not.toBeUndefined()
    expect((await approve(bench.firstApprover, body.id)).status).toBe(200)
    expect((await approve(bench.secondApprover, body.id)).body.status).toBe('approved')
  })

  it('ends at most 30 days after it was signed', async () => {
    const rows = rowsOf('1', '2')
    const preview = await previewed(rows)
    const atEnd = (after: number) => new Date(Date.parse(preview.orders[0]!.expiresAt!) - 30 * 86_400_000 + after)
    const signedAt = (after: number) => signedOf(preview, undefined, { signedAt: atEnd(after).toISOString() })
    const early = await send(rows, signedAt(-1))
    expect([early.status, early.body.reason]).toEqual([403, 'signature_required'])
    const never = await send(rows, { ...signedOf(preview), expiresAt: '9999-12-31T23:59:59.999Z' })
    expect([never.status, never.body.reason]).toEqual([400, 'validation_failed'])
    expect((await send(rows, signedAt(0))).status).toBe(201)
  })

  it('is placed once, under any external ids of its rows', async () => {
    const rows = rowsOf('1', '2')
    const signed = signedOf(await previewed(rows))
    expect((await send(rows, signed)).status).toBe(201)
    expect((await send(rows, signed)).body.reason).toBe('already_exists')
    const renamed = rows.map((row, i) => ({ ...row, externalId: `renamed-${i}` }))
    expect((await send(renamed, signed)).body.reason).toBe('already_exists')
    expect(await bench.balances(address.id)).toEqual({ available: '997', reserved: '3' })
  })

  it('is voted on with signatures for its hash, ends with its signature, and may be rejected without one', async () => {
    const id = await ordered(rowsOf('80', '90'))
    const { payloadHash, expiresAt } = (await bench.owner.get(`${payouts()}/${id}`)).body
    expect(expiresAt).toBe((await rowsRead(id))[0]!.payload.expiresAt)
    const unsigned = await bench.firstApprover.post(`${payouts()}/${id}/approve`, { payloadHash })
    expect([unsigned.status, unsigned.body.reason]).toEqual([403, 'signature_required'])
    const [row] = await rowsRead(id)
    for (const [changes, reason] of [
      [{ subject: 'transfer' }, 'signature_required'],
      [{ decision: 'reject' }, 'signature_required'],
      [{ hash: row!.payloadHash }, 'payload_changed'],
    ] as const)
      expect((await approve(bench.firstApprover, id, changes)).body.reason).toBe(reason)
    expect((await approve(bench.firstApprover, id)).status).toBe(200)
    expect((await bench.secondApprover.post(`${payouts()}/${id}/reject`, { payloadHash })).body.status).toBe('rejected')
  })
})

describe('the hand-over of the rows of a signed payout', () => {
  it('T58 carries the signatures of the payout once, and the place of each row in it', async () => {
    const id = await ordered(rowsOf('80', '90', '70'))
    const { payloadHash } = (await bench.owner.get(`${payouts()}/${id}`)).body
    for (const person of [bench.firstApprover, bench.secondApprover]) await approve(person, id)
    await bench.deliver()
    const ids = (await rowsRead(id)).map(({ transferId }) => transferId)
    const handOvers = handedOver().filter(({ body }) => ids.includes(body.id))
    expect(handOvers).toHaveLength(3)
    for (const { body } of handOvers) {
      const { order, votes, batch } = body.authorization
      expect(order.transferId).toBe(body.id)
      expect(isAtPlace(order, batch)).toBe(true)
      expect(await hashInBrowser(batch.payout)).toBe(payloadHash)
      expect(votes.map(({ vote }: SignedVote) => [vote.subject, vote.hash])).toEqual(
        Array(3).fill(['payout', payloadHash]),
      )
    }
  })

  it('is in the evidence of each row, which can be verified on its own', async () => {
    const id = await ordered(rowsOf('80', '90', '70'))
    for (const person of [bench.firstApprover, bench.secondApprover]) await approve(person, id)
    const [row] = await rowsRead(id)
    const { body } = await bench.vault.admin.get(`${base()}/transfers/${row!.transferId}/evidence`)
    const soundness = async (changes: object) =>
      (await reportOnFile(JSON.stringify({ ...body, ...changes }), []))?.isSound
    expect(body.signedVotes).toHaveLength(3)
    expect(await soundness({})).toBe(true)
    const batch = body.batch as Place
    for (const changes of [
      { batch: undefined },
      { batch: { ...batch, position: 1 } },
      { batch: { ...batch, payout: { ...batch.payout, payoutId: 'another' } } },
      { signedVotes: body.signedVotes.slice(1) },
    ])
      expect(await soundness(changes), JSON.stringify(changes)).toBe(false)
  })

  it('fails a row that the wallet service finally refuses, and releases its funds', async () => {
    const id = await ordered(rowsOf('40'))
    bench.vault.wallet.refuseAuthorization = 'NOT_IN_PAYOUT: the order is not row 0'
    await bench.deliver()
    expect((await rowsRead(id))[0]).toMatchObject({ status: 'failed', failureReason: 'NOT_IN_PAYOUT: not authorized' })
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })
})

describe('an unsigned payout', () => {
  it('is not approved in a protected vault, and a signed one is not accepted elsewhere', async () => {
    expect((await protect('off')).status).toBe(200)
    const rows = rowsOf('80', '90')
    const { body } = await send(rows)
    const preview = await bench.owner.post(`${payouts()}/preview`, { rows: rowsOf('1') })
    expect(preview.body.toSign).toBeUndefined()
    expect((await protect('votes')).status).toBe(200)
    const signed = signedOf(await previewed(rowsOf('1')))
    const refused = await approve(bench.firstApprover, body.id)
    expect([refused.status, refused.body.reason]).toEqual([409, 'not_in_protected_vault'])
    expect((await bench.firstApprover.post(`${payouts()}/${body.id}/reject`)).body.status).toBe('rejected')
    expect((await protect('off')).status).toBe(200)
    expect((await send(rowsOf('1'), signed)).status).toBe(400)
    expect((await protect('votes')).status).toBe(200)
  })
})
