import { expect, it } from 'vitest'
import { coin, dollar, golden } from '../../../testing/golden-activity.ts'
import { breakDownByStatus } from './breakdowns.ts'

it('returns separate sums for every status', () => {
  expect(breakDownByStatus(golden)).toEqual([
    { status: 'awaiting_approval', count: 1, amountsByAsset: [coin('0.1')], usdValue: '1.00' },
    { status: 'confirmed', count: 5, amountsByAsset: [coin('4.01'), dollar('11')], usdValue: '44.15' },
    { status: 'failed', count: 1, amountsByAsset: [dollar('9')], usdValue: '9.00' },
  ])
})
