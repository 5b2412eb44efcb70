import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SignedVote } from '../lib/signed-vote.ts'
import type { Address } from '../testing/answer.ts'
import type { Person } from '../testing/app.ts'
import type { Authenticator } from '../testing/authenticator.ts'
import { authorityAnswer } from '../testing/fake-authority.ts'
import { addPasskey, confirming } from '../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { tellStops } from './tell-stops.ts'

let bench: TransferBench
let address: Address
const keys = new Map<Person, Authenticator>()
const base = () => `/vaults/${bench.vault.code}` as const

beforeAll(async () => {
  bench = await createTransferBench()
  const people = [bench.owner, bench.firstApprover, bench.secondApprover]
  for (const person of people) keys.set(person, await addPasskey(person))
  bench.vault.admin = confirming(bench.vault.admin, await addPasskey(bench.vault.admin))
  expect((await bench.vault.admin.put(`${base()}/protection`, { protection: 'votes' })).status).toBe(200)
  const named = people.map((person) => ({ person: person.userId, key: keys.get(person)! }))
  bench.vault.wallet.authority = authorityAnswer(bench.vault.id, named)
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.refuseStops = null
  bench.vault.wallet.requests.length = 0
  address = await bench.fundedAddress()
})

type Vote = Parameters<Authenticator['vote']>[0]

/** Orders a transfer that waits for votes. Returns its id and the vote that its initiator signed. */
async function orderWaiting() {
  const order = { fromAddressId: address.id, toAddress: bench.recipient, amount: '200' }
  const { body: preview } = await bench.owner.post(`${base()}/transfers/preview`, order)
  const { order: payload, vote } = preview as never as { order: Record<string, never>; vote: Vote }
  const { transferId, expiresAt, rulesVersion } = payload
  const signed = { transferId, expiresAt, rulesVersion, vote: keys.get(bench.owner)!.vote(vote) }
  const { status, body } = await bench.owner.post(`${base()}/transfers`, { ...order, signed })
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  return { id: body.id as string, vote }
}

const signAs = (person: Person, vote: Vote, decision: Vote['decision']) =>
  keys.get(person)!.vote({ ...vote, decision, person: person.userId })

const sentStops = () =>
  bench.vault.wallet.requests
    .filter(({ path }) => path === '/stops')
    .map(({ body }) => (body as { votes: SignedVote[] }).votes)

const waiting = async () => (await bench.sql('select attempts from stops_due')).length

describe('T58 a signed veto or cancellation', () => {
  it('is sent to the wallet service once, after it is recorded, as it was signed', async () => {
    const { id, vote } = await orderWaiting()
    const signature = signAs(bench.firstApprover, vote, 'reject')
    expect((await bench.act(bench.firstApprover, id, 'reject', { signature })).body.status).toBe('rejected')
    expect(sentStops()).toEqual([])
    await tellStops(bench.test.deps)
    await tellStops(bench.test.deps)
    expect(sentStops()).toEqual([[signature]])
    expect(await waiting()).toBe(0)
  })

  it('counts from the initiator for a cancellation of exactly this transfer only', async () => {
    const { id, vote } = await orderWaiting()
    const other = await orderWaiting()
    const cancel = (signature?: object) => bench.owner.post(`${base()}/transfers/${id}/cancel`, { signature } as never)
    for (const [signature, status, reason] of [
      [signAs(bench.owner, other.vote, 'cancel'), 409, 'payload_changed'],
      [signAs(bench.owner, vote, 'reject'), 403, 'signature_required'],
      [signAs(bench.firstApprover, vote, 'cancel'), 403, 'signature_required'],
    ] as const) {
      const refused = await cancel(signature)
      expect([refused.status, refused.body.reason]).toEqual([status, reason])
    }
    expect((await bench.read(id)).status).toBe('awaiting_approval')
    const signature = signAs(bench.owner, vote, 'cancel')
    expect((await cancel(signature)).body.status).toBe('cancelled')
    await tellStops(bench.test.deps)
    expect(sentStops()).toEqual([[signature]])
  })

  it('is not sent to the wallet service without a signature', async () => {
    const { id } = await orderWaiting()
    expect((await bench.act(bench.firstApprover, id, 'reject')).body.status).toBe('rejected')
    const { id: next } = await orderWaiting()
    expect((await bench.act(bench.owner, next, 'cancel')).body.status).toBe('cancelled')
    await tellStops(bench.test.deps)
    expect(sentStops()).toEqual([])
  })

  it('is sent again until the wallet service has accepted it, or answers that it does not count', async () => {
    for (const [answer, isFinal] of [
      [[500, { message: 'down' }], false],
      [[403, { message: 'no', details: 'KEY_UNKNOWN: no such key' }], true],
      [[404, { message: 'no such route' }], true],
    ] as const) {
      const { id, vote } = await orderWaiting()
      await bench.act(bench.firstApprover, id, 'reject', { signature: signAs(bench.firstApprover, vote, 'reject') })
      bench.vault.wallet.refuseStops = answer as unknown as [number, object]
      await tellStops(bench.test.deps)
      expect(await waiting()).toBe(isFinal ? 0 : 1)
      bench.vault.wallet.refuseStops = null
      bench.test.clock.advance(600_000)
      await tellStops(bench.test.deps)
      expect(await waiting()).toBe(0)
    }
    expect(sentStops()).toHaveLength(4)
  })
})
