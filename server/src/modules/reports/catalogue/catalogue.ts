import { badRequest } from '../../../lib/errors.ts'
import { buildActivity } from '../activity/activity-report.ts'
import { readActivityRequest } from '../activity/activity-request.ts'
import {
  AddressActivityQuery,
  AddressActivityReport,
  activityComponents,
  CounterpartyActivityQuery,
  CounterpartyActivityReport,
  CounterpartyGroupActivityQuery,
  CounterpartyGroupActivityReport,
  TransactionActivityQuery,
  TransactionActivityReport,
} from '../activity/schema.ts'
import type { PrintedColumn } from '../documents/document.ts'
import {
  AccountStanding,
  AccountStatementQuery,
  AccountStatementReport,
  buildAccountStatement,
  openAccountStatement,
  StatementLine,
  StatementTotals,
} from '../reports/account-statement.ts'
import {
  ApprovalActivityQuery,
  ApprovalActivityReport,
  ApproverActivity,
  buildApprovalActivity,
  PolicyApprovals,
} from '../reports/approval-activity.ts'
import { AssetBalance, AssetMovementReport, buildAssetMovement } from '../reports/asset-movement.ts'
import {
  buildCategoryAnalytics,
  CategoryAnalyticsQuery,
  CategoryAnalyticsReport,
  CategoryFieldAnalytics,
} from '../reports/category-analytics.ts'
import {
  buildFees,
  FeesOfAsset,
  FeesOfKind,
  FeesOfNetwork,
  FeesOfPayer,
  FeesOfPeriod,
  FeesQuery,
  FeesReport,
  FeesSummary,
  readFeesRequest,
} from '../reports/fees.ts'
import { leadOfStatement } from '../reports/lead-of-statement.ts'
import {
  buildOperations,
  CategoryColumn,
  OperationsQuery,
  OperationsReport,
  openOperations,
  ReportedOperation,
} from '../reports/operations.ts'
import {
  AccountDifference,
  buildExceptions,
  ExceptionOperation,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
  openExceptions,
  readExceptionsRequest,
} from '../reports/operations-exceptions/build.ts'
import {
  type BlockLayout,
  type Report,
  readPagedRequest,
  readReportRequest,
  report,
} from '../requests/report-request.ts'
import { sharedComponents } from '../requests/schema.ts'

/** The columns of a page, which is not as wide as a sheet: several values of a row are below each other. */
const printedLines: readonly PrintedColumn[] = [
  { label: 'Date', kind: 'timestamp', keys: ['createdAt'] },
  { label: 'Posting, operation and transaction', kind: 'text', keys: ['kind', 'operationId', 'txHash'] },
  { label: 'Other side', kind: 'text', keys: ['counterparty.name', 'otherAddress'] },
  { label: 'Purpose and note', kind: 'text', keys: ['paymentPurpose', 'note'] },
  { label: 'Debit', kind: 'amount', keys: ['debit'] },
  { label: 'Credit', kind: 'amount', keys: ['credit'] },
  { label: 'Balance, of it reserved', kind: 'amount', keys: ['balance', 'reserved'] },
  { label: 'USD value', kind: 'usd', keys: ['usdValue'] },
]
const printedOperations: BlockLayout['printed'] = [
  { label: 'Created at', kind: 'timestamp', keys: ['createdAt'] },
  { label: 'Type and status', kind: 'text', keys: ['operationType', 'status', 'flowType'] },
  { label: 'Own address', kind: 'text', keys: ['addressLabel', 'address'] },
  { label: 'Other side', kind: 'text', keys: ['counterparty.name', 'otherAddress'] },
  { label: 'Purpose, note and tags', kind: 'text', keys: ['paymentPurpose', 'note', 'tags'] },
  { label: 'Operation and transaction', kind: 'text', keys: ['id', 'txHash'] },
  { label: 'Amount', kind: 'amount', keys: ['amount'] },
  { label: 'Asset', kind: 'text', keys: ['asset', 'network'] },
  { label: 'USD value', kind: 'usd', keys: ['usdValue'] },
  { label: 'Categories', kind: 'text', keys: ['categories'], isLabelled: true, hasExtra: true },
]

const printedObservations: BlockLayout['printed'] = [
  { label: 'Severity', kind: 'text', keys: ['severity'] },
  { label: 'Description', kind: 'text', keys: ['code', 'description'] },
  { label: 'Metric', kind: 'text', keys: ['metric'] },
  { label: 'Current value', kind: 'amount', keys: ['currentValue'] },
  { label: 'Comparison value', kind: 'amount', keys: ['comparisonValue'] },
  { label: 'Change percent', kind: 'percent', keys: ['changePercent'] },
]
const activityLayout = {
  blocks: {
    observations: { printed: printedObservations },
    balances: { printedAt: 'first' },
  },
} satisfies Report['document']

/** Every report. A new report needs an entry here, and the files with its schema, its queries and its builder. */
export const reports = [
  report({
    type: 'address_activity',
    operationId: 'reportAddressActivity',
    summary: 'Get the address activity report',
    description:
      'The operations of one address or folder: exactly one of `addressId` and `folderId` is required. A member reads ' +
      'their own operations, with `includeShared` also those on addresses shared with them; administrators ' +
      'and auditors read the whole vault.',
    query: AddressActivityQuery,
    answer: AddressActivityReport,
    components: activityComponents,
    prepare(type, member, query, now) {
      if ((query.addressId === undefined) === (query.folderId === undefined)) {
        throw badRequest('addressId', 'exactly one of addressId and folderId must be given')
      }
      return readActivityRequest(type, member, query, now)
    },
    build: buildActivity,
    document: activityLayout,
  }),
  report({
    type: 'counterparty_activity',
    operationId: 'reportCounterpartyActivity',
    summary: 'Get the counterparty activity report',
    description: 'The blocks of the address activity report over the operations with one counterparty.',
    query: CounterpartyActivityQuery,
    answer: CounterpartyActivityReport,
    prepare: readActivityRequest,
    build: buildActivity,
    document: activityLayout,
  }),
  report({
    type: 'counterparty_group_activity',
    operationId: 'reportCounterpartyGroupActivity',
    summary: 'Get the counterparty group activity report',
    description:
      'The blocks of the address activity report over the operations with counterparties that are in the group now.',
    query: CounterpartyGroupActivityQuery,
    answer: CounterpartyGroupActivityReport,
    prepare: readActivityRequest,
    build: buildActivity,
    document: activityLayout,
  }),
  report({
    type: 'transaction_activity',
    operationId: 'reportTransactionActivity',
    summary: 'Get the transaction activity report',
    description: 'The blocks of the address activity report over all operations that the caller may read.',
    query: TransactionActivityQuery,
    answer: TransactionActivityReport,
    prepare: readActivityRequest,
    build: buildActivity,
    document: activityLayout,
  }),
  report({
    type: 'asset_movement',
    operationId: 'reportAssetMovement',
    summary: 'Get the asset movement report',
    description:
      'The blocks of the address activity report, and per asset from the ledger: the opening balance, the amounts ' +
      'that were received, sent, paid in fees and adjusted, and the closing balance.',
    query: TransactionActivityQuery,
    answer: AssetMovementReport,
    components: [AssetBalance],
    prepare: readActivityRequest,
    build: buildAssetMovement,
    document: activityLayout,
  }),
  report({
    type: 'account_statement',
    operationId: 'reportAccountStatement',
    summary: 'Get an account statement',
    description:
      'For one address and token: the opening balance, every posting with the resulting balance, oldest first, and ' +
      'the closing balance. Category filters select lines; balances are those of the whole account.',
    query: AccountStatementQuery,
    answer: AccountStatementReport,
    components: [AccountStanding, StatementTotals, StatementLine],
    prepare(type, member, query, now) {
      const { addressId, tokenId } = query
      return { ...readPagedRequest(type, member, query, now), addressId, tokenId }
    },
    build: buildAccountStatement,
    document: {
      blocks: {
        account: { printedAt: 'nowhere' },
        opening: { printedAt: 'nowhere' },
        closing: { printedAt: 'nowhere' },
        totals: { printedAt: 'nowhere' },
        lines: {
          title: 'Postings',
          firstColumn: 'createdAt',
          printed: printedLines,
          // A reservation changes no balance: the page shows the operation once, by the posting of its amount.
          isPrinted: ({ debit, credit }) => debit !== null || credit !== null,
        },
      },
      mainBlock: 'lines',
      lead: leadOfStatement,
      open: openAccountStatement,
    },
  }),
  report({
    type: 'operations_exceptions',
    operationId: 'reportOperationsExceptions',
    summary: 'List operations with data quality issues',
    description: 'The operations behind each figure of `dataQuality`; `exceptions` selects figures.',
    query: OperationsExceptionsQuery,
    answer: OperationsExceptionsReport,
    components: [ExceptionOperation, AccountDifference],
    prepare: readExceptionsRequest,
    build: buildExceptions,
    document: {
      blocks: {
        items: {
          title: 'Operations',
          firstColumn: 'createdAt',
          omittedInPrint: ['operationType', 'addressId', 'tokenId'],
        },
      },
      mainBlock: 'items',
      open: openExceptions,
    },
  }),
  report({
    type: 'operations',
    operationId: 'reportOperations',
    summary: 'List operations with their categories',
    description:
      'Every operation of the report, oldest first, with the values of its categories; a file has a column for every ' +
      'field of a category.',
    query: OperationsQuery,
    answer: OperationsReport,
    components: [CategoryColumn, ReportedOperation],
    prepare: readPagedRequest,
    build: buildOperations,
    document: {
      blocks: {
        categoryColumns: { isOmitted: true },
        items: { title: 'Operations', omitted: ['categoryValues'], printed: printedOperations },
      },
      mainBlock: 'items',
      open: openOperations,
    },
  }),
  report({
    type: 'fees',
    operationId: 'reportFees',
    summary: 'Get the report of network fees',
    description:
      'The network fees that the ledger has, in coins and in USD: by network, token, address that paid, kind and time. ' +
      'Without `dateBasis`, a fee has the date on which it was booked.',
    query: FeesQuery,
    answer: FeesReport,
    components: [FeesSummary, FeesOfNetwork, FeesOfAsset, FeesOfPayer, FeesOfKind, FeesOfPeriod],
    prepare: readFeesRequest,
    build: buildFees,
  }),
  report({
    type: 'approval_activity',
    operationId: 'reportApprovalActivity',
    summary: 'Get the approval activity report',
    description: 'Votes on transfers: counts and times, per policy and per approver.',
    query: ApprovalActivityQuery,
    answer: ApprovalActivityReport,
    components: [PolicyApprovals, ApproverActivity],
    prepare: readReportRequest,
    build: buildApprovalActivity,
  }),
  report({
    type: 'category_analytics',
    operationId: 'reportCategoryAnalytics',
    summary: 'Get the category analytics report',
    description:
      'Per field of one category: its values with counts and amounts. Numbers are summed per unit, currencies per ' +
      'currency, and never across units or currencies.',
    query: CategoryAnalyticsQuery,
    answer: CategoryAnalyticsReport,
    components: [CategoryFieldAnalytics],
    prepare: (type, member, query, now) => ({
      ...readReportRequest(type, member, query, now),
      categoryKey: query.categoryKey,
    }),
    build: buildCategoryAnalytics,
  }),
] as const

export type ReportType = (typeof reports)[number]['type']
export const reportTypes: readonly ReportType[] = reports.map(({ type }) => type)

export function reportOf(type: ReportType): Report {
  return reports.find((report) => report.type === type)!
}

/** Every component that the answers refer to, in the order of the documentation. */
export const reportComponents = [
  ...sharedComponents,
  ...reports.flatMap(({ components = [], answer }: Report) => [...components, answer]),
]
