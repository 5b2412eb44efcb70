import type { Static } from 'typebox'
import { Closed, described } from '../../../http/schema.ts'
import { Count } from '../requests/schema.ts'
import type { Faults, Overall } from './flows.ts'

const figures = {
  totalOperations: described(Count, 'Operations of the report, whatever their status.'),
  unmatchedOperations: described(Count, 'External operations without a counterparty, by the requested classification.'),
  retroactivelyMatchedOperations: described(
    Count,
    'Operations that had no counterparty when they were created, and have a counterparty now.',
  ),
  operationsWithoutUsdRate: described(Count, 'Operations without a USD value, which USD sums leave out.'),
  feesWithoutUsdRate: described(
    Count,
    'Operations whose network fee has no USD value, because no rate was fresh when it was booked.',
  ),
  operationsWithoutSelectedDate: described(
    Count,
    'Operations created in the interval without the date that `dateBasis` selects; not in `totalOperations`.',
  ),
  operationsWithoutBlockchainTime: described(Count, 'Confirmed operations without the time of their block.'),
  operationsWithoutPaymentPurpose: described(Count, 'Operations without `paymentPurpose`.'),
  operationsWithoutBusinessReference: described(Count, 'Operations with neither a note nor a tag.'),
  uncategorizedOperations: described(Count, 'Operations without a category that the caller sees.'),
  conflictingCounterpartyClassifications: described(
    Count,
    'Operations whose present counterparty differs from the counterparty at their creation.',
  ),
  invalidOperationRelations: described(
    Count,
    'Number of relations, not of operations, that contradict their operations.',
  ),
  missingLedgerEntries: described(Count, 'Operations without the ledger entry that brought them to their status.'),
  ledgerReconciliationDifferences: described(
    Count,
    'Accounts, not operations, whose balance differs from the balance after their newest entry.',
  ),
}

export const ReportDataQuality = Closed(figures, {
  $id: 'ReportDataQuality',
  description: 'Gaps in the data, which limit what the figures say.',
})

const { totalOperations: _, ledgerReconciliationDifferences: _1, ...listed } = figures
/** The figures of dataQuality that have operations to list. */
export const exceptionKinds = Object.keys(listed) as ExceptionKind[]
export type ExceptionKind = keyof typeof listed

/** Faults outside the groups: of operations that are in no group, and of the ledger. */
export type OtherFaults = Pick<
  Static<typeof ReportDataQuality>,
  | 'operationsWithoutSelectedDate'
  | 'invalidOperationRelations'
  | 'missingLedgerEntries'
  | 'ledgerReconciliationDifferences'
>

/** Returns the gaps in the data of the report. docs/reports.md defines each count, and operations_exceptions lists its operations. */
export function assessDataQuality(overall: readonly Overall[], others: OtherFaults): Static<typeof ReportDataQuality> {
  const sum = (of: (group: Overall) => number) => overall.reduce((total, group) => total + of(group), 0)
  const faults = (name: keyof Faults) => sum((group) => group.faults[name])
  return {
    totalOperations: sum(({ count }) => count),
    unmatchedOperations: faults('unmatched'),
    retroactivelyMatchedOperations: faults('retroactivelyMatched'),
    operationsWithoutUsdRate: sum(({ count, rated }) => count - rated),
    feesWithoutUsdRate: faults('withoutFeeUsdRate'),
    operationsWithoutBlockchainTime: faults('withoutBlockchainTime'),
    operationsWithoutPaymentPurpose: faults('withoutPaymentPurpose'),
    operationsWithoutBusinessReference: faults('withoutBusinessReference'),
    uncategorizedOperations: faults('uncategorized'),
    conflictingCounterpartyClassifications: faults('conflictingCounterparty'),
    ...others,
  }
}
