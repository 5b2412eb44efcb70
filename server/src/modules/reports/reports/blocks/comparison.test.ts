import { expect, it } from 'vitest'
import { compareIntervals } from './comparison.ts'

const interval = { from: new Date('2026-02-01T00:00:00.000Z'), to: new Date('2026-03-01T00:00:00.000Z') }
const current = { incomingUsd: 15_000n, outgoingUsd: 5_000n, operationsCount: 3, ratedCount: 3 }

it('returns the change of each figure in per cent', () => {
  const figures = { incomingUsd: 10_000n, outgoingUsd: 0n, operationsCount: 2, ratedCount: 2 }
  expect(compareIntervals('previous_period', current, { interval, figures })).toEqual({
    mode: 'previous_period',
    previousFrom: '2026-02-01T00:00:00.000Z',
    previousTo: '2026-03-01T00:00:00.000Z',
    incomingUsdChangePercent: 50,
    outgoingUsdChangePercent: null,
    grossTurnoverUsdChangePercent: 100,
    operationsCountChangePercent: 50,
    // 66.67 USD each against 50.00 USD: exactly one third more.
    averageOperationUsdChangePercent: 33.33,
  })
})

it('is null over nothing, and all null when nothing is compared', () => {
  const none = { incomingUsd: 0n, outgoingUsd: 0n, operationsCount: 0, ratedCount: 0 }
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
