import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compareDecimals, multiplyDecimals } from '../../../lib/money.ts'
import type { Address, Answer } from '../../../testing/answer.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import type { Facts } from '../selectors/facts.ts'
import { type InFlight, isSettled, ofMark, toMark } from './velocity-sums.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(() => {
  bench.test.clock.advance(3_601_000)
})

const limitOf = (selectorType: string, value: string) => ({
  conditionType: 'require',
  selectors: [{ selectorType, value: { op: 'gt', value, windowSeconds: 3_600, per: 'initiator' } }],
})

describe('T36 orders in flight', () => {
  /** Runs `work` while an order of the owner is in flight: another session locks the account, so that the order waits. */
  async function whileInFlight(
    amount: string,
    work: (inFlight: Promise<Answer>, release: () => Promise<void>) => unknown,
    source?: Address,
  ) {
    const { id } = source ?? (await bench.fundedAddress())
    const holder = new pg.Client({ connectionString: bench.test.databaseUrl })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query('select from ledger_accounts where address_id = $1 for update', [id])
      const inFlight = bench.order(id, amount)
      await untilSessionsWait(bench.test.deps.db)
      await work(inFlight, async () => void (await holder.query('rollback')))
      await inFlight
    } finally {
      await holder.end()
    }
  }

  it.each([
    ['velocityAmount', '100'],
    ['velocityCount', '2'],
  ])(
    'T36 do not hold up orders that stay below the limit with them, and hold up those that may not: %s',
    async (type, value) => {
      const { id: policyId } = await bench.policy({
        code: type.toLowerCase(),
        effect: 'block',
        rules: [limitOf(type, value)],
      })
      const other = (await bench.fundedAddress()).id
      await whileInFlight('60', async (inFlight, release) => {
        expect((await bench.order(other, '40')).status).toBe(201)
        const near = bench.order(other, '1')
        await untilSessionsWait(bench.test.deps.db, 2)
        await release()
        expect([(await inFlight).status, (await near).status]).toEqual([201, 403])
      })
      expect((await bench.vault.admin.delete(`/policies/${policyId}`)).status).toBe(204)
      await bench.expectSoundLedger()
    },
  )

  it.each(['order', 'payout'])('T36 see each other when different scopes limit them: %s', async (kind) => {
    const [first, second] = [await bench.fundedAddress(), await bench.fundedAddress()]
    const limits = [
      ['vault', first],
      ['destination', second],
    ] as const
    const policies: string[] = []
    for (const [per, { address }] of limits) {
      const value = { op: 'gt', value: '100', windowSeconds: 3_600, per }
      const selectors = [
        { selectorType: 'sourceAddress', value: [address] },
        { selectorType: 'velocityAmount', value },
      ]
      const rules = [{ conditionType: 'require', selectors }]
      policies.push((await bench.policy({ code: `per-${per}`, effect: 'block', rules })).id)
    }
    const pay = (fromAddressId: string): Promise<Answer> => {
      if (kind === 'order') return bench.order(fromAddressId, '60')
      const row = { externalId: 'r', fromAddressId, toAddress: bench.recipient, amount: '60' }
      return bench.owner.post('/vaults/main-vault/payouts', { rows: [row] })
    }
    for (const [held, other] of [
      [first, second],
      [second, first],
    ] as const) {
      await whileInFlight(
        '60',
        async (inFlight, release) => {
          const near = pay(other.id)
          await untilSessionsWait(bench.test.deps.db, 2)
          await release()
          expect([(await inFlight).status, (await near).status]).toEqual([201, 403])
        },
        held,
      )
      bench.test.clock.advance(3_601_000)
    }
    for (const id of policies) expect((await bench.vault.admin.delete(`/policies/${id}`)).status).toBe(204)
    await bench.expectSoundLedger()
  })
})

describe('an announced sum', () => {
  it.each([
    '0',
    '1',
    '0.000001',
    '999999',
    '999999.5',
    '1234567.89',
    `1${'0'.repeat(77)}`,
    `0.${'0'.repeat(71)}1`,
    '1000',
  ])('is never less than the amount, and no more than a hundred-thousandth above it: %s', (amount) => {
    const mark = toMark(amount)
    expect(mark).toBeGreaterThan(0)
    expect(mark).toBeLessThan(2 ** 31)
    const announced = ofMark(mark)!
    expect(compareDecimals(announced, amount)).toBeGreaterThanOrEqual(0)
    expect(compareDecimals(announced, multiplyDecimals(amount, '1.00001'))).toBeLessThanOrEqual(0)
  })

  it('is unknown when no rate is known', () => expect(ofMark(0)).toBe(null))
})

describe('an order is settled', () => {
  const facts = { now: new Date(), initiatorId: 'a', initiatorGroupIds: [], amount: '10', usdRate: '1' } satisfies Facts
  const sums = [{ per: 'initiator' as const, windowSeconds: 3_600, count: 3, amount: '80', usd: '80' }]
  const settled = (selectorType: string, value: string, more: Partial<InFlight>) =>
    isSettled([{ rules: [limitOf(selectorType, value)] }], facts, {
      sums,
      inFlight: [{ per: 'initiator', count: 2, amount: '5', usd: '5', ...more }],
    })

  it.each([
    ['below the limit with all of them', 'velocityAmount', '95', {}, true],
    ['above it with some of them', 'velocityAmount', '94.9', {}, false],
    ['above it without them', 'velocityAmount', '89', {}, true],
    ['by their number', 'velocityCount', '6', {}, true],
    ['by their number', 'velocityCount', '5', {}, false],
    ['in USD', 'velocityUsd', '95', {}, true],
    ['in USD', 'velocityUsd', '94.9', {}, false],
    ['in USD, when the rate of one of them is unknown', 'velocityUsd', '1000', { usd: null }, false],
    ['whatever others of another scope order', 'velocityAmount', '90', { per: 'vault' }, true],
  ] as const)('%s (%s %s)', (_name, type, value, more, expected) => {
    expect(settled(type, value, more)).toBe(expected)
  })
})
