import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatDecimal } from '../../lib/money.ts'
import {
  type Counterparty,
  createReportWorld,
  type OperationDraft,
  type ReportWorld,
} from '../../testing/report-world.ts'

/** Reports over random operations, against a naive count in memory that shares no code with the engine. */
const runs = Number(process.env.REPORT_RUNS ?? 25)
const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'Pacific/Apia']
const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const

let world: ReportWorld
let parties: (Counterparty | null)[]
beforeAll(async () => {
  world = await createReportWorld()
  parties = [await world.addCounterparty('One'), await world.addCounterparty('Two'), null]
})
afterAll(() => world.close())

type Drawn = {
  type: 'transfer' | 'deposit'
  status: (typeof statuses)[number]
  token: 'usdt' | 'eth'
  raw: bigint
  rate: string | null
  minute: number
  party: number
  isSecond: boolean
}

const days = 20
const drawn: fc.Arbitrary<Drawn> = fc.record({
  type: fc.constantFrom('transfer', 'deposit'),
  status: fc.constantFrom(...statuses, 'confirmed', 'confirmed'),
  token: fc.constantFrom('usdt', 'eth'),
  raw: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 24n)),
  rate: fc.constantFrom('1', '0.9987', '2503.123456789', null),
  // Some before the interval, some after it, many at its midnights.
  minute: fc.oneof(
    fc.integer({ min: -600, max: days * 1440 + 600 }),
    fc.integer({ min: 0, max: days }).map((day) => day * 1440),
  ),
  party: fc.integer({ min: 0, max: 2 }),
  isSecond: fc.boolean(),
})

const decimalsOf = { usdt: 6, eth: 18 }
let year = 1980

describe('against a count by hand', () => {
  it('every figure is what a naive sum says, and all blocks agree', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...zones),
        fc.constantFrom('day', 'week', 'month'),
        async (operations, timezone, groupBy) => {
          year += 1
          const start = Date.UTC(year, 9, 1)
          const meant = operations.map((one) => ({
            ...one,
            status: one.type === 'deposit' ? ('confirmed' as const) : one.status,
            at: new Date(start + one.minute * 60_000),
          }))
          for (const one of meant) {
            const draft: OperationDraft = {
              type: one.type,
              status: one.status,
              token: one.token,
              amount: formatDecimal(one.raw, decimalsOf[one.token]),
              rate: one.rate,
              at: one.at.toISOString(),
              counterparty: parties[one.party]!,
              address: one.isSecond ? world.second : world.own,
              isBooked: false,
            }
            await world.add(draft)
          }
          const query = {
            from: new Date(start).toISOString(),
            to: new Date(start + days * 86_400_000).toISOString(),
            timezone,
            groupBy,
          }
          const body = await world.report('transaction_activity', query)
          const within = meant.filter(({ minute }) => minute >= 0 && minute < days * 1440)
          expectNaive(body, within)
          expectAgreement(body)
          expectTimeline(body, within, query)
        },
      ),
      { numRuns: runs },
    )
  }, 120_000)
})

type Operation = Drawn & { at: Date }
// biome-ignore lint/suspicious/noExplicitAny: the answer check has verified the shape.
type Body = any

/** USD in cents, rounded half to even, with nothing but big integers. */
function centsOf({ raw, token, rate }: Operation): bigint {
  if (rate === null) return 0n
  const [whole = '', fraction = ''] = rate.split('.')
  const dividend = raw * BigInt(whole + fraction) * 100n
  const divisor = 10n ** BigInt(decimalsOf[token] + fraction.length)
  const twice = (dividend % divisor) * 2n
  const quotient = dividend / divisor
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient
}

const cents = (usd: string) => BigInt(usd.replace('.', ''))
const sum = <Item>(items: Item[], of: (item: Item) => bigint) => items.reduce((total, item) => total + of(item), 0n)

function expectNaive(body: Body, operations: Operation[]): void {
  const counted = operations.filter(({ status }) => status === 'confirmed')
  const incoming = counted.filter(({ type }) => type === 'deposit')
  const outgoing = counted.filter(({ type }) => type === 'transfer')
  expect(body.summary.operationsCount).toBe(operations.length)
  expect(body.summary.confirmedCount).toBe(counted.length)
  expect(cents(body.summary.incomingUsd)).toBe(sum(incoming, centsOf))
  expect(cents(body.summary.outgoingUsd)).toBe(sum(outgoing, centsOf))
  expect(body.dataQuality.operationsWithoutUsdRate).toBe(operations.filter(({ rate }) => rate === null).length)
  expect(body.dataQuality.unmatchedOperations).toBe(operations.filter(({ party }) => party === 2).length)
  expect(body.dataQuality.missingLedgerEntries).toBe(operations.length)
  for (const token of ['usdt', 'eth'] as const) {
    const asset = body.byAsset.find((one: Body) => one.assetCode === token.toUpperCase())
    const ofToken = operations.filter((one) => one.token === token)
    if (ofToken.length === 0) {
      expect(asset).toBeUndefined()
      continue
    }
    const raw = counted.filter((one) => one.token === token).map((one) => one.raw)
    raw.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const text = (amount: bigint, extra = 0) => formatDecimal(amount, decimalsOf[token] + extra)
    expect(asset.operationsCount).toBe(ofToken.length)
    expect(asset.grossTurnover).toBe(text(sum(raw, (one) => one)))
    const twoMiddles = (raw[Math.floor((raw.length - 1) / 2)] ?? 0n) + (raw[Math.floor(raw.length / 2)] ?? 0n)
    expect(asset.medianAmount).toBe(raw.length === 0 ? null : text(twoMiddles * 5n, 1))
    expect(asset.minimumAmount).toBe(raw.length === 0 ? null : text(raw[0]!))
    expect(asset.maximumAmount).toBe(raw.length === 0 ? null : text(raw.at(-1)!))
  }
  for (const [index, party] of parties.entries()) {
    const row = body.byCounterparty.find((one: Body) => one.counterpartyId === (party?.id ?? null))
    const ofParty = operations.filter((one) => one.party === index)
    expect(row?.operationsCount ?? 0).toBe(ofParty.length)
    expect(cents(row?.grossTurnoverUsd ?? '0.00')).toBe(
      sum(
        ofParty.filter(({ status }) => status === 'confirmed'),
        centsOf,
      ),
    )
  }
}

/** Whatever a report is broken down by, the parts are the whole. */
function expectAgreement(body: Body): void {
  const { summary } = body
  const gross = cents(summary.grossTurnoverUsd)
  const usdOf = (rows: Body[], field: string) => sum(rows, (row) => cents(row[field]))
  const countOf = (rows: Body[], field: string) => rows.reduce((total: number, row) => total + row[field], 0)
  expect(cents(summary.incomingUsd) + cents(summary.outgoingUsd)).toBe(gross)
  expect(cents(summary.incomingUsd) - cents(summary.outgoingUsd)).toBe(cents(summary.netFlowUsd))
  for (const block of ['byAsset', 'byCounterparty', 'byOwnAddress']) {
    expect(usdOf(body[block], 'grossTurnoverUsd'), block).toBe(gross)
    expect(countOf(body[block], 'operationsCount'), block).toBe(summary.operationsCount)
  }
  for (const field of ['incomingUsd', 'outgoingUsd', 'netFlowUsd']) {
    expect(usdOf(body.byAsset, field), field).toBe(cents(summary[field]))
    expect(usdOf(body.timeline, field), field).toBe(cents(summary[field]))
  }
  expect(usdOf(body.byCategory, 'usdValue')).toBe(gross)
  expect(countOf(body.byCategory, 'count')).toBe(summary.operationsCount)
  expect(countOf(body.byStatus, 'count')).toBe(summary.operationsCount)
  const confirmed = body.byStatus.find((one: Body) => one.status === 'confirmed')
  expect(cents(confirmed?.usdValue ?? '0.00')).toBe(gross)
  expect(confirmed?.amountsByAsset ?? []).toEqual(summary.grossTurnoverByAsset)
  expect(countOf(body.timeline, 'operationsCount')).toBe(summary.operationsCount)
  expect(summary.incomingCount + summary.outgoingCount).toBe(summary.operationsCount)
  expect(body.dataQuality.totalOperations).toBe(summary.operationsCount)
  for (const block of ['byCounterparty', 'byOwnAddress', 'byCategory', 'timeline']) {
    for (const direction of ['incoming', 'outgoing']) {
      for (const { tokenId, amount } of summary[`${direction}AmountByAsset`]) {
        const parts = body[block].flatMap((row: Body) =>
          row[`${direction}ByAsset`].filter((one: Body) => one.tokenId === tokenId),
        )
        expect(addDecimals(parts.map((one: Body) => one.amount)), `${block} ${direction}`).toBe(addDecimals([amount]))
      }
    }
  }
}

const addDecimals = (amounts: string[]) =>
  sum(amounts, (amount) => {
    const [whole = '', fraction = ''] = amount.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  })

/** Buckets cover the interval without a gap, and each holds what happened in it by the instants it names. */
function expectTimeline(
  body: Body,
  operations: Operation[],
  { from, to, timezone, groupBy }: Record<string, string>,
): void {
  const { timeline } = body
  expect(timeline[0].periodStart).toBe(from)
  expect(timeline.at(-1).periodEnd).toBe(to)
  for (const [i, { periodStart, periodEnd, operationsCount, incomingUsd }] of timeline.entries()) {
    if (i > 0) expect(periodStart).toBe(timeline[i - 1].periodEnd)
    const inside = operations.filter(({ at }) => at >= new Date(periodStart) && at < new Date(periodEnd))
    expect(operationsCount).toBe(inside.length)
    expect(cents(incomingUsd)).toBe(
      sum(
        inside.filter(({ type }) => type === 'deposit'),
        centsOf,
      ),
    )
    if (i === 0) continue
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone!, weekday: 'short', day: '2-digit' })
    const parts = Object.fromEntries(clock.formatToParts(new Date(periodStart)).map(({ type, value }) => [type, value]))
    if (groupBy === 'week') expect(parts.weekday).toBe('Mon')
    if (groupBy === 'month') expect(parts.day).toBe('01')
  }
  const activeDays = new Set(
    operations.map(({ at }) => new Intl.DateTimeFormat('en-CA', { timeZone: timezone! }).format(at)),
  )
  expect(body.summary.activeDays).toBe(activeDays.size)
}
