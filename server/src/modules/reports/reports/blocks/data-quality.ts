import type { Static } from 'typebox'
import { Closed } from '../../../../http/schema.ts'
import type { Faults, Overall } from '../activity.ts'
import { Count } from '../schema.ts'

export const ReportDataQuality = Closed(
  {
    totalOperations: Count,
    unmatchedOperations: Count,
    retroactivelyMatchedOperations: Count,
    operationsWithoutUsdRate: Count,
    operationsWithoutSelectedDate: Count,
    operationsWithoutBlockchainTime: Count,
    operationsWithoutPaymentPurpose: Count,
    operationsWithoutBusinessReference: Count,
    uncategorizedOperations: Count,
    conflictingCounterpartyClassifications: Count,
    invalidOperationRelations: Count,
    missingLedgerEntries: Count,
    ledgerReconciliationDifferences: Count,
  },
  { $id: 'ReportDataQuality' },
)

/** The figures of dataQuality that have operations to list. */
export const exceptionKinds = [
  'unmatchedOperations',
  'retroactivelyMatchedOperations',
  'operationsWithoutUsdRate',
  'operationsWithoutSelectedDate',
  'operationsWithoutBlockchainTime',
  'operationsWithoutPaymentPurpose',
  'operationsWithoutBusinessReference',
  'uncategorizedOperations',
  'conflictingCounterpartyClassifications',
  'invalidOperationRelations',
  'missingLedgerEntries',
] as const
export type ExceptionKind = (typeof exceptionKinds)[number]

/** Faults outside the groups: of operations that are in none, and of the ledger. */
export type OtherFaults = {
  operationsWithoutSelectedDate: number
  invalidOperationRelations: number
  missingLedgerEntries: number
  ledgerReconciliationDifferences: number
}

/** The gaps in the data of the report; docs/reports.md defines each count, operations_exceptions lists its operations. */
export function assessDataQuality(overall: readonly Overall[], others: OtherFaults): Static<typeof ReportDataQuality> {
  const sum = (of: (group: Overall) => number) => overall.reduce((total, group) => total + of(group), 0)
  const faults = (name: keyof Faults) => sum((group) => group.faults[name])
  return {
    totalOperations: sum(({ count }) => count),
    unmatchedOperations: faults('unmatched'),
    retroactivelyMatchedOperations: faults('retroactivelyMatched'),
    operationsWithoutUsdRate: sum(({ count, rated }) => count - rated),
    operationsWithoutSelectedDate: others.operationsWithoutSelectedDate,
    operationsWithoutBlockchainTime: faults('withoutBlockchainTime'),
    operationsWithoutPaymentPurpose: faults('withoutPaymentPurpose'),
    operationsWithoutBusinessReference: faults('withoutBusinessReference'),
    uncategorizedOperations: faults('uncategorized'),
    conflictingCounterpartyClassifications: faults('conflictingCounterparty'),
    invalidOperationRelations: others.invalidOperationRelations,
    missingLedgerEntries: others.missingLedgerEntries,
    ledgerReconciliationDifferences: others.ledgerReconciliationDifferences,
  }
}
