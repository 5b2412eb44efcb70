import { badRequest } from '../../../lib/errors.ts'
import { buildAccountStatement, openAccountStatement, readStatementRequest } from './account-statement/build.ts'
import {
  AccountStanding,
  AccountStatementQuery,
  AccountStatementReport,
  StatementLine,
} from './account-statement/schema.ts'
import { buildActivity } from './activity/build.ts'
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
} from './activity/schema.ts'
import { buildApprovalActivity } from './approval-activity/build.ts'
import {
  ApprovalActivityQuery,
  ApprovalActivityReport,
  ApproverActivity,
  PolicyApprovals,
} from './approval-activity/schema.ts'
import { buildAssetMovement } from './asset-movement/build.ts'
import { AssetBalance, AssetMovementReport } from './asset-movement/schema.ts'
import { buildCategoryAnalytics, readAnalyticsRequest } from './category-analytics/build.ts'
import { CategoryAnalyticsQuery, CategoryAnalyticsReport, CategoryFieldAnalytics } from './category-analytics/schema.ts'
import { buildExceptions, openExceptions, readExceptionsRequest } from './operations-exceptions/build.ts'
import {
  AccountDifference,
  ExceptionOperation,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
} from './operations-exceptions/schema.ts'
import { type Report, report } from './report.ts'
import { readActivityRequest, readReportRequest } from './request.ts'
import { sharedComponents } from './schema.ts'
import { requireAddress, requireCounterparty, requireCounterpartyGroup, requireFolder } from './subjects.ts'

/** Every report. A further one is an entry here, and the files with its schema, its queries and its builder. */
export const reports = [
  report({
    type: 'address_activity',
    documentation: {
      operationId: 'reportAddressActivity',
      summary: 'Get the address activity report',
      description:
        'The operations of one address or folder: exactly one of `addressId` and `folderId` is required. A member reads ' +
        'their own operations, with `includeShared` also those on addresses shared with them; an administrator reads ' +
        'the whole vault.',
    },
    query: AddressActivityQuery,
    answer: AddressActivityReport,
    components: activityComponents,
    prepare(type, member, query, now) {
      if ((query.addressId === undefined) === (query.folderId === undefined)) {
        throw badRequest('addressId', 'exactly one of addressId and folderId must be given')
      }
      return readActivityRequest(type, member, query, now)
    },
    async checkSubject(db, scope, { addressId, folderId }) {
      if (addressId !== undefined) await requireAddress(db, scope, addressId)
      if (folderId !== undefined) await requireFolder(db, scope, folderId)
    },
    build: buildActivity,
  }),
  report({
    type: 'counterparty_activity',
    documentation: {
      operationId: 'reportCounterpartyActivity',
      summary: 'Get the counterparty activity report',
      description: 'The blocks of the address activity report over the operations with one counterparty.',
    },
    query: CounterpartyActivityQuery,
    answer: CounterpartyActivityReport,
    prepare: readActivityRequest,
    checkSubject: (db, scope, { counterpartyId }) => requireCounterparty(db, scope, counterpartyId),
    build: buildActivity,
  }),
  report({
    type: 'counterparty_group_activity',
    documentation: {
      operationId: 'reportCounterpartyGroupActivity',
      summary: 'Get the counterparty group activity report',
      description:
        'The blocks of the address activity report over the operations with counterparties that are in the group now.',
    },
    query: CounterpartyGroupActivityQuery,
    answer: CounterpartyGroupActivityReport,
    prepare: readActivityRequest,
    checkSubject: (db, scope, { counterpartyGroupId }) => requireCounterpartyGroup(db, scope, counterpartyGroupId),
    build: buildActivity,
  }),
  report({
    type: 'transaction_activity',
    documentation: {
      operationId: 'reportTransactionActivity',
      summary: 'Get the transaction activity report',
      description: 'The blocks of the address activity report over all operations that the caller may read.',
    },
    query: TransactionActivityQuery,
    answer: TransactionActivityReport,
    prepare: readActivityRequest,
    build: buildActivity,
  }),
  report({
    type: 'asset_movement',
    documentation: {
      operationId: 'reportAssetMovement',
      summary: 'Get the asset movement report',
      description:
        'The blocks of the address activity report, and per asset from the ledger: the opening balance, what was ' +
        'received, sent, paid in fees and adjusted, and the closing balance.',
    },
    query: TransactionActivityQuery,
    answer: AssetMovementReport,
    components: [AssetBalance],
    prepare: readActivityRequest,
    build: buildAssetMovement,
  }),
  report({
    type: 'account_statement',
    documentation: {
      operationId: 'reportAccountStatement',
      summary: 'Get an account statement',
      description:
        'For one address and token: the opening balance, every posting with the resulting balance, oldest first, and ' +
        'the closing balance. Category filters select lines; balances are those of the whole account.',
    },
    query: AccountStatementQuery,
    answer: AccountStatementReport,
    components: [AccountStanding, StatementLine],
    prepare: readStatementRequest,
    checkSubject: (db, scope, { addressId }) => requireAddress(db, scope, addressId),
    build: buildAccountStatement,
    document: {
      blocks: {
        lines: { title: 'Postings', firstColumn: 'createdAt', omittedInPrint: ['id', 'operationType'] },
      },
      open: openAccountStatement,
    },
  }),
  report({
    type: 'operations_exceptions',
    documentation: {
      operationId: 'reportOperationsExceptions',
      summary: 'List operations with data quality issues',
      description: 'The operations behind each figure of `dataQuality`; `exceptions` selects figures.',
    },
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
      open: openExceptions,
    },
  }),
  report({
    type: 'approval_activity',
    documentation: {
      operationId: 'reportApprovalActivity',
      summary: 'Get the approval activity report',
      description: 'Votes on transfers: counts and times, per policy and per approver.',
    },
    query: ApprovalActivityQuery,
    answer: ApprovalActivityReport,
    components: [PolicyApprovals, ApproverActivity],
    prepare: readReportRequest,
    build: buildApprovalActivity,
  }),
  report({
    type: 'category_analytics',
    documentation: {
      operationId: 'reportCategoryAnalytics',
      summary: 'Get the category analytics report',
      description:
        'Per field of one category: its values with counts and amounts. Numbers are summed per unit, currencies per ' +
        'currency, and never across two of them.',
    },
    query: CategoryAnalyticsQuery,
    answer: CategoryAnalyticsReport,
    components: [CategoryFieldAnalytics],
    prepare: readAnalyticsRequest,
    build: buildCategoryAnalytics,
  }),
] as const

export type ReportType = (typeof reports)[number]['type']
export const reportTypes: readonly ReportType[] = reports.map(({ type }) => type)

export function reportOf(type: ReportType): Report {
  return reports.find((one) => one.type === type)!
}

/** Every component that the answers refer to, in the order of the documentation. */
export const reportComponents = [
  ...sharedComponents,
  ...reports.flatMap(({ components = [], answer }: Report) => [...components, answer]),
]
