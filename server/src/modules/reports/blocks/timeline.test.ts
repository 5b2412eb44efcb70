import { expect, it } from 'vitest'
import { coin, dollar, golden, nothing } from '../../../testing/golden-activity.ts'
import { toTimeline } from './breakdowns.ts'

it('returns every bucket, also empty ones', () => {
  const timeline = toTimeline(golden)
  expect(timeline.map(({ operationsCount }) => operationsCount)).toEqual([2, 2, 0, 3])
  expect(timeline[1]).toEqual({
    periodStart: '2026-03-02T00:00:00.000Z',
    periodEnd: '2026-03-03T00:00:00.000Z',
    incomingByAsset: [coin('2.5'), dollar('7')],
    outgoingByAsset: [],
    netFlowByAsset: [coin('2.5'), dollar('7')],
    incomingUsd: '25.05',
    outgoingUsd: '0.00',
    netFlowUsd: '25.05',
    operationsCount: 2,
  })
  expect(timeline[2]).toEqual({
    periodStart: '2026-03-03T00:00:00.000Z',
    periodEnd: '2026-03-04T00:00:00.000Z',
    incomingByAsset: [],
    outgoingByAsset: [],
    netFlowByAsset: [],
    incomingUsd: '0.00',
    outgoingUsd: '0.00',
    netFlowUsd: '0.00',
    operationsCount: 0,
  })
  expect(timeline[3]).toMatchObject({ netFlowByAsset: [coin('-0.51'), dollar('-4')], netFlowUsd: '-9.10' })
  expect(toTimeline(nothing)).toHaveLength(4)
})
