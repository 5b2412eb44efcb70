import { expect, it } from 'vitest'
import { coin, dollar, golden } from '../../../testing/golden-activity.ts'
import { breakDownByCounterparty } from './breakdowns.ts'

it('breaks down operations by counterparty, with an entry for operations without a counterparty', () => {
  expect(breakDownByCounterparty(golden)).toEqual([
    {
      counterpartyId: 'supplier',
      name: 'Supplier',
      kind: 'company',
      incomingByAsset: [coin('3.5')],
      outgoingByAsset: [coin('0.51')],
      grossTurnoverUsd: '40.15',
      netFlowUsd: '29.95',
      operationsCount: 3,
    },
    {
      counterpartyId: 'buyer',
      name: 'Buyer',
      kind: 'individual',
      incomingByAsset: [],
      outgoingByAsset: [dollar('4')],
      grossTurnoverUsd: '4.00',
      netFlowUsd: '-4.00',
      operationsCount: 1,
    },
    {
      counterpartyId: null,
      name: null,
      kind: null,
      incomingByAsset: [dollar('7')],
      outgoingByAsset: [],
      grossTurnoverUsd: '0.00',
      netFlowUsd: '0.00',
      operationsCount: 3,
    },
  ])
})
