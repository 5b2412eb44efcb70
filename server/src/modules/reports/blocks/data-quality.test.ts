import { expect, it } from 'vitest'
import { golden } from '../../../testing/golden-activity.ts'
import { assessDataQuality } from './data-quality.ts'

it('adds up the faults of operations', () => {
  const others = {
    operationsWithoutSelectedDate: 11,
    invalidOperationRelations: 12,
    missingLedgerEntries: 13,
    ledgerReconciliationDifferences: 14,
  }
  expect(assessDataQuality(golden.overall, others)).toEqual({
    totalOperations: 7,
    unmatchedOperations: 1,
    retroactivelyMatchedOperations: 1,
    operationsWithoutUsdRate: 1,
    feesWithoutUsdRate: 1,
    operationsWithoutBlockchainTime: 1,
    operationsWithoutPaymentPurpose: 1,
    operationsWithoutBusinessReference: 1,
    uncategorizedOperations: 1,
    conflictingCounterpartyClassifications: 1,
    ...others,
  })
})
