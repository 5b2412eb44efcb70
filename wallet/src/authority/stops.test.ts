import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { authorizeAll } from '../testing/payout.ts'
import { type ProtectedWallet, type Refused, startProtectedWallet } from '../testing/protected-wallet.ts'
import { authority, authorize, passkey, serviceKey, signVote, team, unlisted } from '../testing/signing.ts'
import { hashOf } from './canonical.ts'
import { readStops } from './decide.ts'
import type { SignedVote } from './documents.ts'
import { StopJournal } from './stop-journal.ts'

const { anna, ben, carla, dora } = team

let bench: ProtectedWallet
beforeAll(async () => {
  bench = await startProtectedWallet(['early', 'queued', 'payouts', 'refused', 'plain', 'dear'])
})
afterEach(async () => {
  await bench.chain.setAutomine(true)
  await bench.chain.mine(1_000_000_000n)
})
afterAll(() => bench?.stop())

type Decision = SignedVote['vote']['decision']
const stop = (token: string, votes: unknown) => bench.send<{ stopped: string[] } & Refused>(token, '/stops', { votes })

describe('T58 a signed veto or cancellation at the wallet service', () => {
  test('stops an order before its hand-over, whatever votes come with it, also after a restore of the database', async () => {
    const { make, token, clientId } = await bench.protect('early')
    const order = make('early-1', { amount: '2000' })
    const hash = hashOf(order)
    expect((await stop(token, [signVote(dora, { hash, decision: 'reject' })])).body).toEqual({ stopped: [hash] })
    expect((await stop(token, [signVote(dora, { hash, decision: 'reject' })])).status).toBe(200)
    const authorization = authorize(order, { by: anna, approvers: [ben, carla] })
    const handed = await bench.hand(token, order, authorization)
    expect(handed).toMatchObject({ status: 403, body: { details: expect.stringMatching(/^STOPPED: dora signed on /) } })
    // The stop is not in the database, so a writer to the database cannot undo it.
    await bench.forge(clientId, order, authorization)
    expect((await bench.settled(token, 'early-1')).failureReason).toMatch(/^AUTHORIZATION_REFUSED: STOPPED: /)
    const file = await readFile(join(bench.directory, `${clientId}.stopped`), 'utf8')
    expect(file.trim().split('\n')).toHaveLength(1)
    const other = make('early-2', { amount: '2000' })
    expect((await bench.hand(token, other, authorize(other, { by: anna, approvers: [ben, carla] }))).status).toBe(202)
  })

  test('stops an order that waits to be signed, and a signed transaction is not sped up any more', async () => {
    const { make, token } = await bench.protect('queued')
    const waiting = make('queued-1', { maxFee: '1' })
    expect((await bench.hand(token, waiting)).status).toBe(202)
    await bench.untilWaits('queued-1', 'ABOVE_MAX_FEE: ')
    expect((await stop(token, [signVote(ben, { hash: hashOf(waiting), decision: 'reject' })])).status).toBe(200)
    expect((await bench.settled(token, 'queued-1')).failureReason).toMatch(/^AUTHORIZATION_REFUSED: STOPPED: ben/)
    await bench.chain.setAutomine(false)
    const sent = make('queued-2')
    await bench.hand(token, sent)
    const txHash = await bench.untilBroadcast(token, 'queued-2')
    await stop(token, [signVote(ben, { hash: hashOf(sent), decision: 'reject' })])
    const faster = await bench.send<Refused>(token, '/transfers/queued-2/speed-up', { txHash })
    expect(faster).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^AUTHORIZATION_REFUSED: STOPPED: /) },
    })
    expect((await bench.send(token, '/transfers/queued-2/cancel-on-chain', { txHash })).status).toBe(202)
  })

  test('stops every row of a payout, and a row alone', async () => {
    const { make, token } = await bench.protect('payouts')
    const rows = [400, 500].map((amount, i) => make(`row-${i}`, { amount: String(amount), toAddress: unlisted }))
    const authorizations = authorizeAll(rows, { by: anna, approvers: [ben, carla] })
    const { payout } = authorizations[0]!.batch!
    await stop(token, [signVote(carla, { hash: hashOf(rows[1]!), decision: 'reject' })])
    expect((await bench.hand(token, rows[0]!, authorizations[0])).status).toBe(202)
    expect((await bench.hand(token, rows[1]!, authorizations[1])).body.details).toMatch(/^STOPPED: carla/)
    const next = [make('row-2', { amount: '7' }), make('row-3', { amount: '8' })]
    const ofNext = authorizeAll(next, { by: anna, approvers: [ben, carla] })
    await stop(token, [
      signVote(carla, { subject: 'payout', hash: hashOf(ofNext[0]!.batch!.payout), decision: 'reject' }),
    ])
    for (const [i, row] of next.entries())
      expect((await bench.hand(token, row, ofNext[i])).body.details).toMatch(/^STOPPED: carla/)
    expect(hashOf(payout)).not.toBe(hashOf(ofNext[0]!.batch!.payout))
  })

  test('counts only as a signature of a person of the authority, and all of a list or nothing', async () => {
    const { make, token, pinned } = await bench.protect('refused')
    const order = make('refused-1')
    const hash = hashOf(order)
    const reject = (key = ben, more: object = {}) => signVote(key, { hash, decision: 'reject', ...more })
    const { signature } = reject(carla)
    expect(pinned.groups.some(({ persons }) => persons.includes('payroll'))).toBe(true)
    for (const [votes, code] of [
      [[], 'AUTHORIZATION_MALFORMED'],
      ['none', 'AUTHORIZATION_MALFORMED'],
      [[signVote(ben, { hash, decision: 'approve' })], 'ORDER_DIFFERS'],
      [[reject(ben, { subject: 'authority' })], 'ORDER_DIFFERS'],
      [[reject(ben, { subject: 'approval_request' })], 'ORDER_DIFFERS'],
      [[reject(), reject(passkey('ben', 'a stranger'))], 'KEY_UNKNOWN'],
      [[reject(serviceKey('nobody', 'nobody'))], 'KEY_UNKNOWN'],
      [[reject(ben, { person: 'carla' })], 'KEY_UNKNOWN'],
      [[reject(ben, { signedAt: new Date(Date.now() + 600_000).toISOString() })], 'SIGNED_IN_FUTURE'],
      [[{ ...reject(), signature }], 'SIGNATURE_INVALID'],
    ] as const) {
      const { status, body } = await stop(token, votes)
      expect({ status, details: body.details }).toEqual({ status: 403, details: expect.stringMatching(`^${code}: `) })
    }
    expect((await bench.hand(token, order)).status).toBe(202)
    expect((await stop(`token-of-the-vault-plain-0001`, [reject()])).status).toBe(404)
    expect((await bench.send(`${token}x`, '/stops', { votes: [reject()] })).status).toBe(401)
  })

  test('by as many people as the order needed lets its cancellation pay the fee that the network requires', async () => {
    const { make, token } = await bench.protect('dear')
    await bench.chain.setAutomine(false)
    await bench.chain.mine(1_000_000_000n)
    const maxFee = 21_000n * 4_000_000_000n
    const order = make('dear-1', { amount: '2000', maxFee: maxFee.toString() })
    await bench.hand(token, order, authorize(order, { by: anna, approvers: [ben, carla] }))
    const txHash = await bench.untilBroadcast(token, 'dear-1')
    await bench.chain.mine(50_000_000_000n)
    const cancel = () => bench.send<Refused>(token, '/transfers/dear-1/cancel-on-chain', { txHash })
    const hash = hashOf(order)
    const sign = (key: typeof ben, decision: Decision) => stop(token, [signVote(key, { hash, decision })])
    for (const voted of [[], [anna], [ben]]) {
      for (const key of voted) await sign(key, 'cancel')
      expect(await cancel()).toMatchObject({
        status: 409,
        body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: /) },
      })
    }
    // A veto rejects the payment, but does not agree to a higher fee for its cancellation.
    await sign(carla, 'reject')
    expect((await cancel()).status).toBe(409)
    await sign(carla, 'cancel')
    expect((await cancel()).status).toBe(202)
  })
})

test('T58 who is in no group of the authority stops nothing, although it has their key', () => {
  const votes = [signVote(ben, { hash: 'ab'.repeat(32), decision: 'reject' })]
  const now = new Date()
  expect(readStops(authority, votes, now)).toMatchObject({ stops: [{ person: 'ben' }] })
  const groups = authority.groups.map((group) => ({
    ...group,
    persons: group.persons.filter((person) => person !== 'ben'),
  }))
  expect(readStops({ ...authority, groups }, votes, now)).toMatchObject({ refused: { code: 'KEY_UNKNOWN' } })
})

test('T58 stops are kept once each, for 61 days at least, and older stops are deleted when there are many', async () => {
  const journal = new StopJournal(bench.directory)
  const at = (days: number) => new Date(Date.UTC(2026, 0, 1) + days * 86_400_000)
  const of = (hash: string) => [{ hash, person: 'anna', decision: 'reject' as const }]
  await journal.note('kept', of('a'), at(0))
  await journal.note('kept', of('a'), at(1))
  expect(await new StopJournal(bench.directory).find('kept', ['a', 'b'])).toHaveLength(1)
  await journal.note(
    'kept',
    Array.from({ length: 1_001 }, (_, i) => of(`old-${i}`)[0]!),
    at(2),
  )
  await journal.note('kept', of('b'), at(61))
  expect(await journal.find('kept', ['a', 'b'])).toHaveLength(2)
  await journal.note('kept', of('c'), at(64))
  expect((await journal.find('kept', ['a', 'b', 'c'])).map(({ hash }) => hash)).toEqual(['b', 'c'])
})
