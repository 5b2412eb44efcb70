import { expect, it } from 'vitest'
import { golden, nothing } from '../../../testing/golden-activity.ts'
import { breakDownByAsset } from './breakdowns.ts'

it('breaks down operations by token, the greatest turnover first', () => {
  expect(breakDownByAsset(golden)).toEqual([
    {
      tokenId: 'coin',
      assetCode: 'COIN',
      assetSymbol: 'C',
      network: 'net',
      contractAddress: null,
      incoming: '3.5',
      outgoing: '0.51',
      netFlow: '2.99',
      grossTurnover: '4.01',
      incomingUsd: '35.05',
      outgoingUsd: '5.10',
      netFlowUsd: '29.95',
      grossTurnoverUsd: '40.15',
      fees: '0.02',
      feeAsset: 'COIN',
      feesUsd: '0.20',
      operationsCount: 4,
      incomingCount: 2,
      outgoingCount: 2,
      averageAmount: '1.34',
      medianAmount: '1',
      minimumAmount: '0.51',
      maximumAmount: '2.5',
    },
    {
      tokenId: 'dollar',
      assetCode: 'DOLLAR',
      assetSymbol: 'D',
      network: 'net',
      contractAddress: '0xd',
      incoming: '7',
      outgoing: '4',
      netFlow: '3',
      grossTurnover: '11',
      incomingUsd: '0.00',
      outgoingUsd: '4.00',
      netFlowUsd: '-4.00',
      grossTurnoverUsd: '4.00',
      fees: '0.04',
      feeAsset: 'COIN',
      feesUsd: '0.30',
      operationsCount: 3,
      incomingCount: 1,
      outgoingCount: 2,
      averageAmount: '6',
      medianAmount: '5.5',
      minimumAmount: '4',
      maximumAmount: '7',
    },
  ])
})

it('returns null for the mean where no operation counts', () => {
  const onlyFailed = golden.overall.filter(({ status }) => status === 'failed')
  expect(breakDownByAsset({ ...golden, overall: onlyFailed })).toMatchObject([
    {
      tokenId: 'dollar',
      operationsCount: 1,
      outgoing: '0',
      averageAmount: null,
      medianAmount: null,
      minimumAmount: null,
    },
  ])
  expect(breakDownByAsset(nothing)).toEqual([])
})
