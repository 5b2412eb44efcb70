import type { ReportDataQuality } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

/** The gaps in the data that a report counts, in the order in which they should be closed. */
export const gaps = [
  'ledgerReconciliationDifferences',
  'missingLedgerEntries',
  'invalidOperationRelations',
  'operationsWithoutUsdRate',
  'feesWithoutUsdRate',
  'unmatchedOperations',
  'conflictingCounterpartyClassifications',
  'retroactivelyMatchedOperations',
  'operationsWithoutPaymentPurpose',
  'operationsWithoutBusinessReference',
  'uncategorizedOperations',
  'operationsWithoutBlockchainTime',
  'operationsWithoutSelectedDate',
] as const satisfies readonly (keyof ReportDataQuality)[]
export type Gap = (typeof gaps)[number]

type GapWords = { title: string; todo: string }

/** Returns the name of a gap and the remedy. */
export function gapWords(gap: Gap): GapWords {
  return wordsByGap()[gap]
}

function wordsByGap(): Record<Gap, GapWords> {
  return {
    ledgerReconciliationDifferences: {
      title: t('Accounts whose balance differs from their entries'),
      todo: t('Tell the operator of the service: the books were changed outside of the service.'),
    },
    missingLedgerEntries: {
      title: t('Without a ledger entry'),
      todo: t('Tell the operator of the service: an entry is missing from the books.'),
    },
    invalidOperationRelations: {
      title: t('Relations that contradict their operations'),
      todo: t('Open the operation and remove or correct the relation.'),
    },
    operationsWithoutUsdRate: {
      title: t('Without a USD value'),
      todo: t('An administrator can add a rate of that time, if one was recorded later.'),
    },
    feesWithoutUsdRate: {
      title: t('Network fee without a USD value'),
      todo: t('Nothing to do: no rate was known when the fee was booked, and its value is not guessed.'),
    },
    unmatchedOperations: {
      title: t('Without a counterparty'),
      todo: t('Add the address of the other side to the address book.'),
    },
    conflictingCounterpartyClassifications: {
      title: t('Counterparty has changed since'),
      todo: t('Check in the address book whether the address rightly belongs to another entry now.'),
    },
    retroactivelyMatchedOperations: {
      title: t('Counterparty added later'),
      todo: t('Nothing to do: the address book was completed after the operation.'),
    },
    operationsWithoutPaymentPurpose: {
      title: t('Without a purpose'),
      todo: t('Open the operation and say what the payment was for.'),
    },
    operationsWithoutBusinessReference: {
      title: t('With neither a note nor a tag'),
      todo: t('Open the operation and add a note or a tag.'),
    },
    uncategorizedOperations: {
      title: t('Without a category'),
      todo: t('Open the operation and assign a category.'),
    },
    operationsWithoutBlockchainTime: {
      title: t('Without the time of their block'),
      todo: t('The wallet service did not report it: choose another date for the report.'),
    },
    operationsWithoutSelectedDate: {
      title: t('Left out: without the chosen date'),
      todo: t('Choose the date of creation to include them.'),
    },
  }
}
