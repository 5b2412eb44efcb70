import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatDecimal } from '../../../lib/money.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

/** Compares the report of fees with a simple computation in memory that shares no code with it. */
const { runs, seed } = campaignOf('FEES', { runs: 8, seed: 1 })
const hour = 3_600_000
const days = 15

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

const kinds = ['payment', 'replacement', 'cancellation', 'failure'] as const
const drawn = fc.record({
  token: fc.constantFrom<'usdt' | 'eth'>('usdt', 'eth'),
  kind: fc.constantFrom(...kinds),
  raw: fc.bigInt(1n, 10n ** 16n),
  rate: fc.constantFrom('1', '2503.123456789', null),
  hour: fc.integer({ min: -24, max: days * 24 + 24 }),
  delay: fc.integer({ min: 0, max: 48 }),
  place: fc.constantFrom<'own' | 'second' | 'foreign'>('own', 'second', 'foreign'),
  payer: fc.constantFrom<'sender' | 'own' | 'foreign'>('sender', 'sender', 'own', 'foreign'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never
const requests = fc.record({
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia'),
  groupBy: fc.constantFrom('day', 'week', 'month'),
  dateBasis: fc.constantFrom(undefined, 'feeBookedAt', 'createdAt'),
  reader: fc.constantFrom<'owner' | 'admin'>('owner', 'admin'),
  statuses: fc.constantFrom(undefined, undefined, 'failed'),
  feeKinds: fc.option(fc.subarray([...kinds], { minLength: 1 }), { nil: undefined, freq: 2 }),
  feePayer: fc.constantFrom<undefined | 'own' | 'foreign'>(undefined, undefined, 'own', 'foreign'),
})

type Fee = Drawn & { createdAt: Date; bookedAt: Date; payerId: string; isHidden: boolean }
let year = 1980

describe('the report of fees in comparison with a simple computation', () => {
  it('has every figure equal to a naive sum, and each leads to its operations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 20 }), requests, async (fees, wanted) => {
        year += 1
        const start = Date.UTC(year, 4, 1)
        const meant = fees.map((fee) => feeOf(fee, start))
        for (const fee of meant) await write(fee)
        const { reader, feePayer, feeKinds, ...plain } = wanted
        const by = world[reader]
        const query = defined({
          ...plain,
          from: new Date(start).toISOString(),
          to: new Date(start + days * 24 * hour).toISOString(),
          feeKinds: feeKinds?.join(','),
          feePayerIds: feePayer === undefined ? undefined : world[feePayer].id,
        })
        const body = await world.report('fees', query, by)
        const isOwners = reader === 'owner'
        const within = meant.filter((fee) => {
          const date = wanted.dateBasis === 'createdAt' ? fee.createdAt : fee.bookedAt
          const isPaidBy = feePayer === undefined || (fee.payerId === world[feePayer].id && !(isOwners && fee.isHidden))
          return (
            date >= new Date(query.from!) &&
            date < new Date(query.to!) &&
            (!isOwners || fee.place !== 'foreign') &&
            (wanted.statuses === undefined || isFailed(fee)) &&
            (feeKinds === undefined || feeKinds.includes(fee.kind)) &&
            isPaidBy
          )
        })
        expect(body.report.dateBasis).toBe(wanted.dateBasis ?? 'feeBookedAt')
        expect(body.summary).toMatchObject(naive(within))
        expect(body.byNetwork.map((row) => [row.network, row.assetCode, ...figuresOf(row)])).toEqual(
          within.length === 0 ? [] : [['ethereum', 'ETH', ...coin(within)]],
        )
        const bodies = {
          byAsset: body.byAsset.map((row) => [row.assetCode, ...figuresOf(row)]),
          byPayer: body.byPayer.map(({ addressId, feesCount, feesUsd }) => [addressId, feesCount, feesUsd]),
          byKind: body.byKind.map(({ kind, feesCount, feesUsd }) => [kind, feesCount, feesUsd]),
        }
        const shownPayer = ({ payerId, isHidden }: Fee) => (isOwners && isHidden ? null : payerId)
        const pairs = (keyOf: (fee: Fee) => unknown) =>
          grouped(within, keyOf).map(([key, of]) => [key, of.length, naive(of).feesUsd])
        expect(sortedRows(bodies.byAsset)).toEqual(
          sortedRows(grouped(within, ({ token }) => token.toUpperCase()).map(([key, of]) => [key, ...coin(of)])),
        )
        expect(sortedRows(bodies.byPayer)).toEqual(sortedRows(pairs(shownPayer)))
        expect(sortedRows(bodies.byKind)).toEqual(sortedRows(pairs(({ kind }) => kind)))
        for (const { periodStart, periodEnd, ...figures } of body.timeline) {
          const inside = within.filter((fee) => {
            const date = wanted.dateBasis === 'createdAt' ? fee.createdAt : fee.bookedAt
            return date >= new Date(periodStart) && date < new Date(periodEnd)
          })
          expect(figures).toMatchObject(naive(inside))
        }
        // The operations that the console shows behind the figures.
        const listed = { ...query, dateBasis: wanted.dateBasis ?? 'feeBookedAt', limit: '100' }
        for (const { kind, feesCount } of body.byKind)
          expect((await world.report('operations', { ...without(listed), feeKinds: kind }, by)).items.length).toBe(
            feesCount,
          )
        for (const { addressId, feesCount } of body.byPayer) {
          if (addressId === null) continue
          const every = { feeKinds: query.feeKinds ?? kinds.join(','), feePayerIds: addressId }
          expect((await world.report('operations', { ...without(listed), ...every }, by)).items.length).toBe(feesCount)
        }
      }),
      { numRuns: runs, seed },
    )
  }, 240_000)

  it('agrees with the movement of assets, by the date of the entries', async () => {
    const at = '2031-03-31T20:00:00.000Z'
    const bookedAt = '2031-04-01T01:00:00.000Z'
    await world.add({
      type: 'transfer',
      at,
      amount: '1',
      fee: { amount: '0.25', rate: '2000', bookedAt, paidBy: world.second },
    })
    for (const [month, fees, feesUsd] of [
      ['2031-03', '0', '0.00'],
      ['2031-04', '0.25', '500.00'],
    ] as const) {
      const query = { from: `${month}-01`, to: month === '2031-03' ? '2031-04-01' : '2031-05-01' }
      const moved = (await world.report('asset_movement', query)).balances.find(({ assetCode }) => assetCode === 'ETH')!
      expect(moved).toMatchObject({ fees, feesUsd })
      const report = await world.report('fees', query)
      expect([report.byNetwork[0]?.fees ?? '0', report.summary.feesUsd]).toEqual([fees, feesUsd])
    }
    const march = await world.report('transaction_activity', { from: '2031-03-01', to: '2031-04-01' })
    expect(march.summary).toMatchObject({ feesUsd: '500.00', feesByAsset: [{ assetCode: 'ETH', amount: '0.25' }] })
    const statement = {
      addressId: world.second.id,
      tokenId: world.vault.tokens.eth.id,
      from: '2031-04-01',
      to: '2031-05-01',
    }
    const { totals, lines } = await world.report('account_statement', statement)
    expect(totals).toMatchObject({ debits: '0.25', fees: '0.25', feesUsd: '500.00', otherDebits: '0' })
    expect(lines).toMatchObject([{ kind: 'fee', debit: '0.25', usdValue: '500.00' }])
  })

  it('show in a statement no more of an operation of another address than the reader may see', async () => {
    const at = '2032-05-01T12:00:00.000Z'
    const address = world.foreign
    const fee = { amount: '0.25', rate: '2000', bookedAt: at, paidBy: world.second }
    await world.add({ type: 'transfer', at, amount: '1', address, by: world.other, fee })
    const query = {
      addressId: world.second.id,
      tokenId: world.vault.tokens.eth.id,
      from: '2032-05-01',
      to: '2032-06-01',
    }
    const line = { kind: 'fee', debit: '0.25', usdValue: '500.00' }
    const hidden = { operationType: null, txHash: null, counterparty: null, otherAddress: null, paymentPurpose: null }
    const seenBy = async (reader: 'owner' | 'admin') =>
      (await world.report('account_statement', query, world[reader])).lines
    expect(await seenBy('owner')).toMatchObject([{ ...line, ...hidden, note: null }])
    expect(await seenBy('admin')).toMatchObject([{ ...line, operationType: 'transfer' }])
    expect((await seenBy('admin'))[0]!.otherAddress).not.toBeNull()
  })

  it('refuses a kind that does not exist', async () => {
    const { status, body } = await world.get('fees', { feeKinds: 'topup' })
    expect([status, body.details![0]!.field]).toEqual([400, 'feeKinds'])
  })
})

const isFailed = ({ kind }: Drawn) => kind === 'cancellation' || kind === 'failure'

function feeOf(fee: Drawn, start: number): Fee {
  const createdAt = new Date(start + fee.hour * hour)
  const payerId = fee.payer === 'sender' ? world[fee.place].id : world[fee.payer].id
  const isHidden = fee.payer === 'foreign' && fee.place !== 'foreign'
  return { ...fee, createdAt, bookedAt: new Date(createdAt.getTime() + fee.delay * hour), payerId, isHidden }
}

async function write(fee: Fee): Promise<void> {
  await world.add({
    type: 'transfer',
    status: isFailed(fee) ? 'failed' : 'confirmed',
    at: fee.createdAt.toISOString(),
    amount: '1',
    token: fee.token,
    address: world[fee.place],
    by: fee.place === 'foreign' ? world.other : world.owner,
    isBooked: false,
    fee: {
      amount: formatDecimal(fee.raw, 18),
      rate: fee.rate,
      bookedAt: fee.bookedAt.toISOString(),
      hasReplaced: fee.kind === 'replacement',
      isCancelled: fee.kind === 'cancellation',
      ...(fee.payer === 'sender' || fee.payerId === world[fee.place].id ? {} : { paidBy: world[fee.payer] }),
    },
  })
}

/** Cents, rounded half to even. */
function centsOf({ raw, rate }: Drawn): bigint {
  if (rate === null) return 0n
  const [whole = '', fraction = ''] = rate.split('.')
  const [dividend, divisor] = [raw * BigInt(whole + fraction) * 100n, 10n ** BigInt(18 + fraction.length)]
  const twice = (dividend % divisor) * 2n
  const quotient = dividend / divisor
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient
}

function naive(fees: Fee[]) {
  const cents = fees.reduce((sum, fee) => sum + centsOf(fee), 0n)
  const raw = fees.reduce((sum, fee) => sum + fee.raw, 0n)
  return {
    feesCount: fees.length,
    feesUsd: `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`,
    feesByAsset: raw === 0n ? [] : [{ assetCode: 'ETH', amount: formatDecimal(raw, 18) }],
    feesWithoutUsdRate: fees.filter(({ rate }) => rate === null).length,
  }
}

const coin = (fees: Fee[]) => {
  const { feesCount, feesUsd, feesByAsset, feesWithoutUsdRate } = naive(fees)
  return [feesCount, feesByAsset[0]!.amount, feesUsd, feesWithoutUsdRate]
}

type OfCoin = { feesCount: number; fees: string; feesUsd: string; feesWithoutUsdRate: number }
const figuresOf = ({ feesCount, fees, feesUsd, feesWithoutUsdRate }: OfCoin) => [
  feesCount,
  fees,
  feesUsd,
  feesWithoutUsdRate,
]

function grouped(fees: Fee[], keyOf: (fee: Fee) => unknown): [unknown, Fee[]][] {
  const groups = new Map<unknown, Fee[]>()
  for (const fee of fees) groups.set(keyOf(fee), [...(groups.get(keyOf(fee)) ?? []), fee])
  return [...groups]
}

const sortedRows = (rows: unknown[][]) => rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))

const without = ({ groupBy: _, feeKinds: _1, feePayerIds, ...query }: Record<string, string>) =>
  feePayerIds === undefined ? query : { ...query, feePayerIds }

const defined = (query: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined))
