import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Deps } from '../../../deps.ts'
import { walletChangesMax, walletChangesTogetherMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { allowAll } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import type { TransferStatus } from '../../registry/wallet-service/answers.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { ChangesQuestion, WalletClient } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { createFollower } from './follow-changes.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  await bench.sql('delete from followings')
  bench.vault.wallet.mutateStatus = null
  address = await bench.fundedAddress()
})
afterEach(() => bench.expectSoundLedger())

/** Returns the id of a transfer that was handed over and is in flight. */
async function inFlight(amount = '40'): Promise<string> {
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.status]).toEqual([201, 'pending'])
  await bench.deliver()
  return body.id
}

type Answer = { statuses: TransferStatus[]; malformed?: number; cursor: string } | 'lost' | null | Error

/** The time of the last question; the clock stands still until its answer is applied. */
let askedAt: Date

/** Follows once with each answer. Returns the questions to the wallet service. */
async function follow(...answers: Answer[]): Promise<ChangesQuestion[]> {
  const questions: ChangesQuestion[] = []
  const { clock } = bench.test.deps
  for (const answer of answers) {
    bench.test.clock.advance(31_000)
    askedAt = clock()
    bench.test.deps.clock = () => askedAt
    try {
      await followWith(answer, questions)
    } finally {
      bench.test.deps.clock = clock
    }
  }
  return questions
}

async function followWith(answer: Answer, questions: ChangesQuestion[]): Promise<void> {
  const { promise: ended, resolve: end } = withResolvers()
  const connect = async (deps: Deps, vaultId: string): Promise<WalletClient> => ({
    ...(await walletOfVault(deps, vaultId)),
    async listChanges(question) {
      questions.push(question)
      if (answer instanceof Error) throw answer
      if (answer === null || answer === 'lost') return answer
      const statuses = new Map(answer.statuses.map((status) => [status.id ?? '', status]))
      return { malformed: 0, ...answer, statuses }
    },
  })
  if ((await createFollower(bench.test.deps, connect, end).round()) > 0) await ended
}

function withResolvers() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const begin: Answer = { statuses: [], cursor: 'c0' }

function statusOf(id: string, changes: Partial<TransferStatus> = {}): TransferStatus {
  const status = bench.vault.wallet.transfer(id)
  if (status === null) throw new Error(`The wallet service has no ${id}`)
  return { ...status, ...changes }
}

function confirmed(id: string, changes: Partial<TransferStatus> = {}): TransferStatus {
  bench.vault.wallet.confirm(id)
  return statusOf(id, changes)
}

async function following() {
  const [row] = await bench.sql(
    'select cursor, since is not null as followed, fruitless, strangers::int from followings',
  )
  return row
}

const statusesOf = async (ids: string[]) => Promise.all(ids.map(async (id) => (await bench.read(id)).status))

async function nextQuestionIn(id: string): Promise<number> {
  const [row] = await bench.sql('select next_attempt_at as at from deliveries where id = $1', [id])
  return (row.at.getTime() - bench.test.clock.now().getTime()) / 1_000
}

describe('changes of a wallet service', () => {
  it('are followed from the first question on, and each answer is applied with its cursor', async () => {
    const [first, second] = [await inFlight(), await inFlight()]
    const broadcast = { status: 'broadcast', txHash: fakeTxHash(second) } as const
    const questions = await follow(
      begin,
      { statuses: [confirmed(first), statusOf(second, broadcast)], cursor: 'c1' },
      { statuses: [confirmed(second, { txHash: fakeTxHash(second) })], cursor: 'c2' },
    )
    expect(questions).toEqual([
      { after: null, wait: 0 },
      { after: 'c0', wait: 25 },
      { after: 'c1', wait: 25 },
    ])
    expect(await statusesOf([first, second])).toEqual(['confirmed', 'confirmed'])
    expect(await following()).toEqual({ cursor: 'c2', followed: true, fruitless: 0, strangers: 0 })
  })

  it('are requested only while transfers are in flight', async () => {
    const id = await inFlight()
    await follow(begin, { statuses: [confirmed(id)], cursor: 'c1' })
    expect(await follow({ statuses: [], cursor: 'c1' })).toEqual([])
  })

  it('let a transfer be asked about once in ten minutes, and a change that was not reported is counted', async () => {
    const lost = await inFlight()
    await follow(begin)
    bench.test.clock.advance(-30_000)
    await bench.deliver()
    expect(await nextQuestionIn(lost)).toBeGreaterThan(100)
    expect(await nextQuestionIn(lost)).toBeLessThanOrEqual(600)
    await follow({ statuses: [], cursor: 'c0' })
    bench.vault.wallet.confirm(lost)
    await bench.sql('update deliveries set next_attempt_at = $1', [bench.test.clock.now()])
    await bench.sql('update followings set heard_at = $1', [new Date(bench.test.clock.now().getTime() + 61_000)])
    await bench.deliver()
    expect(await statusesOf([lost])).toEqual(['confirmed'])
    expect(await bench.sql('select found_by_question::int as found from followings')).toEqual([{ found: 1 }])
  })

  it('let questions of the same seconds begin together, and be answered in few transactions', async () => {
    const ids: string[] = []
    while (ids.length < 10) ids.push(await inFlight())
    await follow(begin)
    bench.test.clock.advance(-30_000)
    await bench.deliver()
    const due = await bench.sql('select next_attempt_at as at from deliveries where id = any($1)', [ids])
    expect(due.map(({ at }) => at.getTime() % 5_000)).toEqual(ids.map(() => 0))
    await bench.sql('update deliveries set next_attempt_at = $1 where id = any($2)', [bench.test.clock.now(), ids])
    const sent = await statementsOf(() => bench.deliver())
    // The first answer is applied alone, and meanwhile the others come.
    expect(sent.filter((text) => text.includes('commit')).length).toBeLessThanOrEqual(4)
  })

  it('let questions that begin together be one request where possible; a missing transfer is asked about alone', async () => {
    const ids: string[] = []
    while (ids.length < 10) ids.push(await inFlight())
    await follow(begin)
    bench.test.clock.advance(-30_000)
    await bench.deliver()
    const { wallet } = bench.vault
    const [missing, final] = [ids[4]!, ids[5]!]
    wallet.confirm(final)
    wallet.offersStates = true
    wallet.mutateStatus = (id, status) => (id === missing ? { ...status, id: 'another' } : status)
    await bench.sql('update deliveries set next_attempt_at = $1 where id = any($2)', [bench.test.clock.now(), ids])
    wallet.requests.length = 0
    await bench.deliver()
    wallet.offersStates = false
    const paths = wallet.requests.map(({ path }) => path)
    expect(paths).toContain(`/transfers/${missing}`)
    // Questions that come while an earlier request is in progress go together.
    expect(paths.length, paths.join(' ')).toBeLessThanOrEqual(6)
    // The entry about another transfer counts for no transfer, and the same answer to the single question is refused.
    expect(await statusesOf([missing, final])).toEqual(['pending', 'confirmed'])
    const rested = await bench.sql('select id from deliveries where id = any($1) and next_attempt_at > $2', [
      ids,
      new Date(bench.test.clock.now().getTime() + 100_000),
    ])
    expect(rested).toHaveLength(8)
  })

  it('that leave `replacedBy` out keep the reason for which people are asked; an answer about the transfer takes it back', async () => {
    const id = await inFlight()
    const hash = fakeTxHash('took the place')
    const ask = async () => {
      await bench.sql('update deliveries set next_attempt_at = $1 where id = $2', [bench.test.clock.now(), id])
      await bench.deliver()
      return (await bench.read(id)).haltReason
    }
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, replacedBy: { hash } })
    expect(await ask()).toContain(hash)
    const broadcast = statusOf(id, { status: 'broadcast', txHash: fakeTxHash(id) })
    await follow(begin, { statuses: [broadcast], cursor: 'c1' })
    expect((await bench.read(id)).haltReason).toContain(hash)
    bench.vault.wallet.mutateStatus = null
    expect(await ask()).toBe(null)
  })

  it('that repeat, go back or are old change nothing', async () => {
    const [id, other] = [await inFlight(), await inFlight()]
    const [queued, final] = [statusOf(id), confirmed(id)]
    const broadcast = statusOf(other, { status: 'broadcast', txHash: fakeTxHash(other) })
    await follow(begin, { statuses: [final, broadcast], cursor: 'c1' })
    const before = await bench.sql('select count(*) from audit_records')
    const failed = { ...final, status: 'failed' as const, failureReason: 'REVERTED: no' }
    await follow(
      { statuses: [final, broadcast], cursor: 'c1' },
      { statuses: [queued], cursor: 'c0' },
      { statuses: [failed, { ...broadcast, status: 'queued', txHash: null }], cursor: 'c2' },
    )
    expect(await statusesOf([id, other])).toEqual(['confirmed', 'pending'])
    expect(await bench.sql('select count(*) from audit_records')).toEqual(before)
    const [row] = await bench.sql('select phase, wallet_tx_hash from transfers where id = $1', [other])
    expect(row).toEqual({ phase: 'broadcast', wallet_tx_hash: fakeTxHash(other) })
  })

  it('about unknown transfers, or outside the protocol, are counted and stop no other change', async () => {
    const id = await inFlight()
    const stranger = { ...statusOf(id), id: 'stranger', status: 'confirmed' as const, txHash: fakeTxHash('stranger') }
    await follow(begin, { statuses: [stranger, confirmed(id)], malformed: 2, cursor: 'c1' })
    expect(await statusesOf([id])).toEqual(['confirmed'])
    expect(await following()).toMatchObject({ cursor: 'c1', strangers: 3 })
  })

  it('about transfers in a wrong state change nothing: not handed over, waiting for votes, halted', async () => {
    const id = await inFlight()
    const halted = await inFlight()
    const { body: queued } = await bench.order(address.id, '1')
    await follow(begin, { statuses: [statusOf(halted, { amount: '1' })], cursor: 'c1' })
    expect(await bench.sql('select phase from transfers where id = $1', [halted])).toEqual([{ phase: 'halted' }])
    const template = confirmed(id)
    const ending = (of: string) => ({ ...template, id: of, txHash: fakeTxHash(of), amount: null })
    await follow({ statuses: [ending(queued.id), ending(halted), template], cursor: 'c2' })
    expect(await statusesOf([id, queued.id, halted])).toEqual(['confirmed', 'pending', 'pending'])
    expect(await bench.sql('select phase from transfers where id = $1', [queued.id])).toEqual([{ phase: 'queued' }])
  })

  it('T25 with a shared hash or a contradiction halt their transfer, and the others settle', async () => {
    const [first, twin, liar] = [await inFlight(), await inFlight(), await inFlight()]
    await follow(begin, {
      statuses: [
        confirmed(first, { txHash: fakeTxHash('shared') }),
        confirmed(twin, { txHash: fakeTxHash('shared') }),
        confirmed(liar, { toAddress: '0x000000000000000000000000000000000000dEaD' }),
      ],
      cursor: 'c1',
    })
    expect(await statusesOf([first, twin, liar])).toEqual(['confirmed', 'pending', 'pending'])
    const rows = await bench.sql('select id from transfers where phase = $1 and id = any($2)', ['halted', [twin, liar]])
    expect(rows).toHaveLength(2)
  })

  it('of one transfer that cannot be applied do not stop the others', async () => {
    const [good, forged, last] = [await inFlight(), await inFlight(), await inFlight()]
    await bench.sql(`create function refuse_one() returns trigger language plpgsql as $$
      begin if new.id = '${forged}' then raise exception 'no'; end if; return new; end $$`)
    await bench.sql('create trigger refuse_one before update on operations for each row execute function refuse_one()')
    try {
      await follow(begin, { statuses: [good, forged, last].map((id) => confirmed(id)), cursor: 'c1' })
    } finally {
      await bench.sql('drop function refuse_one cascade')
    }
    expect(await statusesOf([good, forged, last])).toEqual(['confirmed', 'pending', 'confirmed'])
    expect(await following()).toMatchObject({ cursor: 'c1' })
  })

  it('post a fee with each transfer, as far as the coins of the address suffice', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '0.000000000000000005' })
    const ids = [await inFlight(), await inFlight(), await inFlight()]
    const final = ids.map((id) => confirmed(id, { fee: '2', feePaidBy: null }))
    await follow(begin, { statuses: final, cursor: 'c1' })
    const rows = await bench.sql('select fee_owed from transfers where id = any($1) order by fee_owed', [ids])
    expect(rows.map(({ fee_owed }) => fee_owed)).toEqual([false, false, true])
  })
})

describe('a wallet service', () => {
  it('that does not report its changes is asked about each transfer, and seldom for its changes', async () => {
    const id = await inFlight()
    await follow(null)
    expect(await following()).toMatchObject({ cursor: null, followed: false })
    await bench.deliver()
    expect(await nextQuestionIn(id)).toBeLessThanOrEqual(30)
    expect(await follow(begin)).toEqual([])
  })

  it('that was restored is asked about every open transfer, and its changes are followed from the start', async () => {
    const [first, second] = [await inFlight(), await inFlight()]
    await follow(begin)
    await bench.sql('update deliveries set next_attempt_at = $1', [
      new Date(bench.test.clock.now().getTime() + 500_000),
    ])
    expect(await follow('lost', begin)).toEqual([
      { after: 'c0', wait: 25 },
      { after: null, wait: 0 },
    ])
    expect(await nextQuestionIn(first)).toBeLessThanOrEqual(0)
    expect(await nextQuestionIn(second)).toBeLessThanOrEqual(0)
    expect(await following()).toMatchObject({ cursor: 'c0', followed: true })
  })

  it('that loses every cursor is asked less and less often, and about each transfer', async () => {
    await inFlight()
    await follow(begin)
    const pauses = []
    for (let round = 0; round < 6; round += 1) {
      await follow('lost')
      const [row] = await bench.sql('select ask_at as at from followings')
      pauses.push(row.at.getTime() - askedAt.getTime())
      await follow(begin)
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000])
    expect(await following()).toMatchObject({ cursor: 'c0', followed: false, fruitless: 6 })
  })

  it.each([
    ['fails', new WalletServiceError('failed', 'Answered 500')],
    ['repeats its answer for ever', 'repeat'],
  ])('that %s is asked less and less often, and about each transfer', async (_how, answer) => {
    const id = await inFlight()
    await follow(begin)
    await bench.sql('update deliveries set next_attempt_at = $1', [
      new Date(bench.test.clock.now().getTime() + 500_000),
    ])
    const repeated: Answer = answer instanceof Error ? answer : { statuses: [statusOf(id)], cursor: 'c0' }
    const pauses = []
    for (let round = 0; round < 9; round += 1) {
      await follow(repeated)
      const [row] = await bench.sql('select ask_at as at from followings')
      pauses.push(row.at.getTime() - askedAt.getTime())
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    expect(await following()).toMatchObject({ cursor: 'c0', followed: false })
    expect(await nextQuestionIn(id)).toBeLessThanOrEqual(0)
    await follow({ statuses: [confirmed(id)], cursor: 'c1' })
    expect(await following()).toEqual({ cursor: 'c1', followed: true, fruitless: 0, strangers: 0 })
  })

  it('is followed by one node: another node takes over after the lease, and the first then changes nothing', async () => {
    const id = await inFlight()
    await follow(begin)
    bench.test.clock.advance(1_000)
    let answer = (_cursor: string) => {}
    const questions: string[] = []
    const connect = (name: string) => async () => ({
      ...(await walletOfVault(bench.test.deps, bench.vault.id)),
      listChanges: () => {
        questions.push(name)
        return new Promise<{ statuses: Map<string, TransferStatus>; malformed: number; cursor: string }>((resolve) => {
          answer = (cursor) => resolve({ statuses: new Map(), malformed: 0, cursor })
        })
      },
    })
    const [slow, other] = [
      createFollower(bench.test.deps, connect('slow')),
      createFollower(bench.test.deps, connect('other')),
    ]
    await slow.round()
    const answerSlow = await patientAnswer()
    await other.round()
    expect(questions).toEqual(['slow'])
    bench.test.clock.advance(61_000)
    await other.round()
    const answerOther = await patientAnswer()
    expect(questions).toEqual(['slow', 'other'])
    answerOther('of the other')
    await other.finish()
    answerSlow('of the slow one')
    await slow.finish()
    expect(await following()).toMatchObject({ cursor: 'of the other' })
    expect(await statusesOf([id])).toEqual(['pending'])

    async function patientAnswer() {
      const count = questions.length
      while (questions.length === count - 1) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, 100))
      return answer
    }
  })

  it('that confirms 1,000 transfers at once needs four batches of eight statements', async () => {
    await allowAll(bench.vault, 'transfer')
    const rows = Array.from({ length: walletChangesMax }, (_, i) => ({
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '0.1',
      externalId: `row-${i}`,
    }))
    const payout = await bench.owner.post('/vaults/main-vault/payouts', { name: 'Many', rows })
    expect(payout.status).toBe(201)
    await bench.sql(`update transfers set phase = 'submitted' where payout_id = $1`, [payout.body.id])
    await bench.sql(
      `update deliveries set queue = 'follow' where id in (select id from transfers where payout_id = $1)`,
      [payout.body.id],
    )
    const orders = await bench.sql('select id from transfers where payout_id = $1 order by payout_row', [
      payout.body.id,
    ])
    await follow(begin)
    const statuses = orders.map(
      ({ id }): TransferStatus => ({
        id,
        status: 'confirmed',
        txHash: fakeTxHash(id),
        fee: null,
        feePaidBy: null,
        confirmations: 1,
        blockTime: null,
        failureReason: null,
      }),
    )
    const sent = await statementsOf(() => follow({ statuses, cursor: 'c1' }))
    const confirmedRows = await bench.sql(
      `select count(*)::int as count from operations where status = 'confirmed' and id = any($1)`,
      [orders.map(({ id }) => id)],
    )
    expect(confirmedRows).toEqual([{ count: walletChangesMax }])
    // Begin, locks, two for the hashes, two for the records of the transfers and of their payout, the writes, commit; then the
    // claim, the wallet and the cursor.
    expect(sent.length).toBe((walletChangesMax / walletChangesTogetherMax) * 8 + 3)
  })
})

/** Returns the statements that are sent to PostgreSQL during `work`. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  const query = pg.Client.prototype.query as (...parts: unknown[]) => unknown
  pg.Client.prototype.query = function (this: pg.Client, ...parts: unknown[]) {
    const [first] = parts as [string | { text: string }]
    sent.push(typeof first === 'string' ? first : first.text)
    return query.apply(this, parts)
  } as typeof pg.Client.prototype.query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query
  }
  return sent.filter((text) => !text.includes('pg_notify'))
}
