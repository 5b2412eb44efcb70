import { expect, it } from 'vitest'
import { coin, dollar, golden } from '../../../testing/golden-activity.ts'
import { breakDownByCategory } from './breakdowns.ts'

it('breaks down operations by category, with an entry for operations without a category', () => {
  expect(breakDownByCategory(golden)).toEqual([
    {
      category: 'sales',
      count: 3,
      incomingByAsset: [coin('3.5'), dollar('7')],
      outgoingByAsset: [],
      usdValue: '35.05',
      feesByAsset: [],
      feesUsd: '0.00',
    },
    {
      category: null,
      count: 4,
      incomingByAsset: [],
      outgoingByAsset: [coin('0.51'), dollar('4')],
      usdValue: '9.10',
      feesByAsset: [coin('0.06')],
      feesUsd: '0.50',
    },
  ])
})
