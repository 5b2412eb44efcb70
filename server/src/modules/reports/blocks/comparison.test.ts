import { expect, it } from 'vitest'
import { compareIntervals, emptySide } from './comparison.ts'

const interval = { from: new Date('2026-02-01T00:00:00.000Z'), to: new Date('2026-03-01T00:00:00.000Z') }
const side = (usd: bigint, count: number, rated = count) => ({ operations: count, counted: count, rated, usd })
const current = { incoming: side(15_000n, 2), outgoing: side(5_000n, 1) }
const none = { incoming: emptySide, outgoing: emptySide }

it('returns the change of each figure in per cent', () => {
  const figures = { incoming: side(10_000n, 2), outgoing: side(0n, 0) }
  expect(compareIntervals('previous_period', current, { interval, figures })).toEqual({
    mode: 'previous_period',
    previousFrom: '2026-02-01T00:00:00.000Z',
    previousTo: '2026-03-01T00:00:00.000Z',
    incomingUsdChangePercent: 50,
    outgoingUsdChangePercent: null,
    grossTurnoverUsdChangePercent: 100,
    operationsCountChangePercent: 50,
    // The mean is 66.67 USD against 50.00 USD: exactly one third more.
    averageOperationUsdChangePercent: 33.33,
  })
})

it('returns null for a change from zero, and only nulls when nothing is compared', () => {
  expect(compareIntervals('previous_year', current, { interval, figures: none })).toMatchObject({
    mode: 'previous_year',
    incomingUsdChangePercent: null,
    operationsCountChangePercent: null,
    averageOperationUsdChangePercent: null,
  })
  expect(compareIntervals('previous_year', none, { interval, figures: current }).grossTurnoverUsdChangePercent).toBe(
    -100,
  )
  const uncompared = compareIntervals('none', current, null)
  expect(Object.values(uncompared)).toEqual(['none', ...Array(7).fill(null)])
})

it('returns null where values are unknown, and compares the known values where only some are unknown', () => {
  const unvalued = { incoming: side(0n, 2, 0), outgoing: side(5_000n, 1) }
  for (const [now, figures] of [
    [unvalued, current],
    [current, unvalued],
  ] as const) {
    const { incomingUsdChangePercent, outgoingUsdChangePercent } = compareIntervals('previous_period', now, {
      interval,
      figures,
    })
    expect([incomingUsdChangePercent, outgoingUsdChangePercent]).toEqual([null, 0])
  }
  const change = compareIntervals('previous_period', unvalued, { interval, figures: current })
  expect([change.grossTurnoverUsdChangePercent, change.operationsCountChangePercent]).toEqual([-75, 0])
  const allUnvalued = { incoming: side(0n, 2, 0), outgoing: emptySide }
  const from = (figures: typeof current) => compareIntervals('previous_period', allUnvalued, { interval, figures })
  expect(from(current)).toMatchObject({ outgoingUsdChangePercent: -100, grossTurnoverUsdChangePercent: null })
  // The value of no operations is zero, which is a known value.
  expect(compareIntervals('previous_period', none, { interval, figures: current }).incomingUsdChangePercent).toBe(-100)
})
