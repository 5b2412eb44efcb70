import { type TSchema, Type } from 'typebox'
import {
  Closed,
  Enum,
  FolderFilter,
  Id,
  IncludeShared,
  Nullable,
  pageQuery,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { decimalPattern } from '../../../lib/money.ts'
import { fileFormats } from '../files/formats.ts'
import { operationStatuses } from './activity.ts'
import { exceptionKinds } from './blocks/data-quality.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const Count = Type.Integer({ minimum: 0, examples: [12] })
const Amount = Type.String({ description: 'Decimal, in token units.', examples: ['1250.5'] })
const Usd = Type.String({ pattern: '^-?(0|[1-9][0-9]*)\\.[0-9]{2}$', examples: ['1250.50'] })
const Percent = Type.Number({ examples: [12.5] })
const Seconds = Nullable(Type.Number({ examples: [5400] }))

/** A list of values: commas between them, a parameter for each, or both. */
const List = (description: string, item: TSchema = Type.String({ minLength: 1, maxLength: 2_000 })) =>
  Type.Optional(
    Type.Unsafe<string[]>(
      Type.Array(item, { maxItems: 200, description: `${description} Comma-separated or repeated.` }),
    ),
  )
const Key = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 128, description }))
const Bound = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `${description} ISO 8601 timestamp, or a day, whose first instant in \`timezone\` is meant.`,
      examples: ['2026-01-01'],
    }),
  )
const BoundAmount = Type.Optional(
  Type.String({ pattern: decimalPattern, description: 'In token units.', examples: ['100'] }),
)
const classifications = ['current', 'historical'] as const

/** What every report may be cut to. */
const commonQuery = {
  from: Bound('Included; 30 days before `to` unless given.'),
  to: Bound('Excluded; now unless given.'),
  timezone: Type.Optional(
    Type.String({ maxLength: 64, description: 'IANA zone; UTC unless given.', examples: ['Europe/Berlin'] }),
  ),
  baseCurrency: Type.Optional(Type.String({ minLength: 1, maxLength: 16, examples: ['USD'] })),
  format: Type.Optional(Enum(['json', ...fileFormats])),
  userId: Key('Administrators only: whose operations.'),
  includeShared: IncludeShared,
}

const filters = {
  dateBasis: Type.Optional(Enum(['createdAt', 'blockchainAt', 'confirmedAt'])),
  statuses: List('Only these; then all of them enter sums.'),
  flowTypes: List('internal, external.'),
  tokenIds: List('Tokens.'),
  assets: List('Codes of tokens.'),
  networkIds: List('Ids or slugs of networks.'),
  ownAddressIds: List('Addresses of the vault on whose side operations are.'),
  addressIds: List('The same as ownAddressIds; given both, both hold.'),
  folderIds: List('Folders, by folderClassification.'),
  counterpartyIds: List('Counterparties, by counterpartyClassification.'),
  counterpartyGroupIds: List('Groups of counterparties, by membership now.'),
  counterpartyAddressIds: List('Addresses of counterparties.'),
  categories: List('Keys of categories, as `category` of the history.'),
  categoryKeys: List('Keys of categories; categoryField then looks into their assignments only.'),
  categoryField: List('Conditions `key:value`, several values separated by `|`; all hold for one assignment.'),
  initiatorIds: List('Who ordered transfers.'),
  minimumAmount: BoundAmount,
  maximumAmount: BoundAmount,
  includeInternal: Type.Optional(
    Type.Boolean({ description: 'false leaves out operations between addresses of the vault.', examples: [true] }),
  ),
  counterpartyClassification: Type.Optional(Enum(classifications)),
  folderClassification: Type.Optional(Enum(classifications)),
}

const engineQuery = {
  ...commonQuery,
  ...filters,
  groupBy: Type.Optional(Enum(['day', 'week', 'month'])),
  comparison: Type.Optional(Enum(['none', 'previous_period', 'previous_year'])),
  breakdownBy: Type.Optional(Enum(['owner'])),
}

export const CommonQuery = Closed(commonQuery)
export const FilterQuery = Closed({ ...commonQuery, ...filters })
export const TransactionActivityQuery = Closed(engineQuery)
export const AddressActivityQuery = Closed({
  ...engineQuery,
  addressId: Key('The address that the report is about.'),
  folderId: FolderFilter,
})
export const CounterpartyActivityQuery = Closed({
  ...engineQuery,
  counterpartyId: Type.String({ minLength: 1, maxLength: 128 }),
})
export const CounterpartyGroupActivityQuery = Closed({
  ...engineQuery,
  counterpartyGroupId: Type.String({ minLength: 1, maxLength: 128 }),
})

const BreakdownIgnored = Type.Optional(
  Type.Unsafe<'owner'>(Type.String({ enum: ['owner'], description: 'Accepted and ignored.', examples: ['owner'] })),
)

export const AccountStatementQuery = Closed({
  ...commonQuery,
  addressId: Type.String({ minLength: 1, maxLength: 128 }),
  tokenId: Type.String({ minLength: 1, maxLength: 128 }),
  categoryKeys: filters.categoryKeys,
  categoryField: filters.categoryField,
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})
export const OperationsExceptionsQuery = Closed({
  ...commonQuery,
  ...filters,
  exceptions: List('Figures of dataQuality whose operations are wanted; all unless given.'),
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})
export const ApprovalActivityQuery = Closed({ ...commonQuery, ...filters, breakdownBy: BreakdownIgnored })
export const CategoryAnalyticsQuery = Closed({
  ...commonQuery,
  ...filters,
  categoryKey: Type.String({ minLength: 1, maxLength: 64, examples: ['payroll'] }),
  breakdownBy: BreakdownIgnored,
})

export const ReportHeader = Closed(
  {
    id: Id,
    type: Text('address_activity'),
    from: Timestamp,
    to: Timestamp,
    timezone: Text('Europe/Berlin'),
    dateBasis: Enum(['createdAt', 'blockchainAt', 'confirmedAt']),
    baseCurrency: Text('USD'),
    classificationMode: Enum(classifications),
    dataCutoff: Timestamp,
    schemaVersion: Text('1'),
    generatedAt: Timestamp,
    generatedById: Text('cmi8h2k1p0a1b2c3d4e5f6g7h'),
  },
  { $id: 'ReportHeader' },
)

const asset = {
  tokenId: Id,
  assetCode: Text('USDT'),
  assetSymbol: Text('₮'),
  network: Text('ethereum'),
  contractAddress: Nullable(Text('0xdAC17F958D2ee523a2206206994597C13D831ec7')),
}
const AssetAmount = Closed({ ...asset, amount: Amount }, { $id: 'AssetAmount' })
const AssetAmounts = Type.Array(Ref(AssetAmount))

const usd = { incomingUsd: Usd, outgoingUsd: Usd, grossTurnoverUsd: Usd, netFlowUsd: Usd }
const counts = { operationsCount: Count, incomingCount: Count, outgoingCount: Count }

const ActivitySummary = Closed(
  {
    ...counts,
    confirmedCount: Count,
    pendingCount: Count,
    awaitingApprovalCount: Count,
    rejectedCount: Count,
    cancelledCount: Count,
    failedCount: Count,
    activeDays: Count,
    ...usd,
    firstOperationAt: Nullable(Timestamp),
    lastOperationAt: Nullable(Timestamp),
    incomingAmountByAsset: AssetAmounts,
    outgoingAmountByAsset: AssetAmounts,
    grossTurnoverByAsset: AssetAmounts,
    netFlowByAsset: AssetAmounts,
    averageAmountByAsset: AssetAmounts,
    medianAmountByAsset: AssetAmounts,
    minimumAmountByAsset: AssetAmounts,
    maximumAmountByAsset: AssetAmounts,
  },
  { $id: 'ActivitySummary' },
)

const ActivityByAsset = Closed(
  {
    ...asset,
    incoming: Amount,
    outgoing: Amount,
    netFlow: Amount,
    grossTurnover: Amount,
    ...usd,
    ...counts,
    averageAmount: Nullable(Amount),
    medianAmount: Nullable(Amount),
    minimumAmount: Nullable(Amount),
    maximumAmount: Nullable(Amount),
  },
  { $id: 'ActivityByAsset' },
)

const ActivityByCounterparty = Closed(
  {
    counterpartyId: Nullable(Id),
    name: Nullable(Text('Northwind Trading')),
    kind: Nullable(Text('company')),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    netFlowUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByCounterparty' },
)

const ActivityByOwnAddress = Closed(
  {
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    label: Nullable(Text('Operations')),
    derivationPath: Text('m/44/60/1/0'),
    segments: Type.Record(Type.String(), Type.Unknown()),
    folderSnapshots: Type.Array(Closed({ id: Id, name: Text('Treasury') })),
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    grossTurnoverUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityByOwnAddress' },
)

const ActivityByStatus = Closed(
  { status: Enum(operationStatuses), count: Count, amountsByAsset: AssetAmounts, usdValue: Usd },
  { $id: 'ActivityByStatus' },
)

const ActivityByCategory = Closed(
  {
    category: Nullable(Text('payroll')),
    count: Count,
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    usdValue: Usd,
  },
  { $id: 'ActivityByCategory' },
)

const Profile = Closed({
  id: Id,
  name: Nullable(Text('Treasurer')),
  username: Nullable(Text('treasurer')),
  image: Nullable(Text('https://example.org/portrait.png')),
  color: Nullable(Text('#1d4ed8')),
  emoji: Nullable(Text('🏦')),
})

const ActivityByAddressOwner = Closed(
  {
    ownerId: Id,
    owner: Profile,
    isMe: Type.Boolean({ examples: [true] }),
    operationsCount: Count,
    grossTurnoverUsd: Usd,
  },
  { $id: 'ActivityByAddressOwner' },
)

const ActivityPeriod = Closed(
  {
    periodStart: Timestamp,
    periodEnd: Timestamp,
    incomingByAsset: AssetAmounts,
    outgoingByAsset: AssetAmounts,
    netFlowByAsset: AssetAmounts,
    incomingUsd: Usd,
    outgoingUsd: Usd,
    netFlowUsd: Usd,
    operationsCount: Count,
  },
  { $id: 'ActivityPeriod' },
)

const approvalSeconds = {
  averageApprovalSeconds: Seconds,
  medianApprovalSeconds: Seconds,
  maximumApprovalSeconds: Seconds,
}

const ActivityApprovals = Closed(
  {
    operationsRequiringApproval: Count,
    approvedOperations: Count,
    rejectedOperations: Count,
    cancelledOperations: Count,
    pendingOperations: Count,
    ...approvalSeconds,
  },
  { $id: 'ActivityApprovals' },
)

const ReportObservation = Closed(
  {
    code: Enum([
      'VOLUME_SPIKE',
      'LARGE_OPERATION',
      'NEW_COUNTERPARTY',
      'COUNTERPARTY_CONCENTRATION',
      'HIGH_FAILURE_RATE',
      'DORMANT_ADDRESS_ACTIVE',
      'SLOW_APPROVALS',
      'MISSING_RATES',
    ]),
    severity: Enum(['info', 'warning', 'critical']),
    title: Text('Turnover far above the rest'),
    description: Text('In the period from 2026-01-05T00:00:00.000Z the turnover was at least 3 times the mean.'),
    metric: Text('grossTurnoverUsd'),
    currentValue: Text('90000.00'),
    comparisonValue: Nullable(Text('12000.00')),
    changePercent: Nullable(Percent),
    drilldownFilters: Type.Record(Type.String(), Type.String(), {
      description: 'Query parameters of the history that lists the operations meant.',
      examples: [{ from: '2026-01-05T00:00:00.000Z', to: '2026-01-05T23:59:59.999Z' }],
    }),
  },
  { $id: 'ReportObservation' },
)

const ReportDataQuality = Closed(
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

const ReportComparison = Closed(
  {
    mode: Enum(['none', 'previous_period', 'previous_year']),
    previousFrom: Nullable(Timestamp),
    previousTo: Nullable(Timestamp),
    incomingUsdChangePercent: Nullable(Percent),
    outgoingUsdChangePercent: Nullable(Percent),
    grossTurnoverUsdChangePercent: Nullable(Percent),
    operationsCountChangePercent: Nullable(Percent),
    averageOperationUsdChangePercent: Nullable(Percent),
  },
  { $id: 'ReportComparison' },
)

const activity = {
  report: Ref(ReportHeader),
  summary: Ref(ActivitySummary),
  byAsset: Type.Array(Ref(ActivityByAsset)),
  byCounterparty: Type.Array(Ref(ActivityByCounterparty)),
  byOwnAddress: Type.Array(Ref(ActivityByOwnAddress)),
  byStatus: Type.Array(Ref(ActivityByStatus)),
  byCategory: Type.Array(Ref(ActivityByCategory)),
  byAddressOwner: Type.Optional(Type.Array(Ref(ActivityByAddressOwner))),
  timeline: Type.Array(Ref(ActivityPeriod)),
  approvals: Ref(ActivityApprovals),
  observations: Type.Array(Ref(ReportObservation)),
  dataQuality: Ref(ReportDataQuality),
  comparison: Ref(ReportComparison),
}

export const AddressActivityReport = Closed(activity, { $id: 'AddressActivityReport' })
export const CounterpartyActivityReport = Closed(activity, { $id: 'CounterpartyActivityReport' })
export const CounterpartyGroupActivityReport = Closed(activity, { $id: 'CounterpartyGroupActivityReport' })
export const TransactionActivityReport = Closed(activity, { $id: 'TransactionActivityReport' })

const AssetBalance = Closed(
  {
    ...asset,
    openingBalance: Amount,
    incoming: Amount,
    outgoing: Amount,
    fees: Amount,
    adjustments: Amount,
    closingBalance: Amount,
  },
  { $id: 'AssetBalance' },
)
export const AssetMovementReport = Closed(
  { ...activity, balances: Type.Array(Ref(AssetBalance)) },
  { $id: 'AssetMovementReport' },
)

const Standing = Closed(
  { available: Amount, reserved: Amount, balance: Amount },
  { $id: 'AccountStanding', description: 'The balance is available and reserved together.' },
)
const named = Nullable(Closed({ id: Id, name: Text('Northwind Trading') }))
const StatementLine = Closed(
  {
    id: Id,
    kind: Enum(['deposit', 'reserve', 'settle', 'release', 'fee', 'adjust']),
    operationId: Id,
    operationType: Nullable(Enum(['transfer', 'deposit'])),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    counterparty: named,
    availableChange: Amount,
    reservedChange: Amount,
    balanceChange: Amount,
    available: Amount,
    reserved: Amount,
    balance: Amount,
    createdAt: Timestamp,
  },
  { $id: 'AccountStatementLine' },
)
export const AccountStatementReport = Closed(
  {
    report: Ref(ReportHeader),
    account: Closed({
      addressId: Id,
      address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
      label: Nullable(Text('Operations')),
      ...asset,
    }),
    opening: Ref(Standing),
    closing: Ref(Standing),
    lines: Type.Array(Ref(StatementLine)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'AccountStatementReport' },
)

const ExceptionOperation = Closed(
  {
    id: Id,
    exceptions: Type.Array(Enum(exceptionKinds)),
    operationType: Enum(['transfer', 'deposit']),
    status: Enum(operationStatuses),
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    tokenId: Id,
    asset: Text('USDT'),
    amount: Amount,
    usdValue: Nullable(Usd),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    counterparty: named,
    createdAt: Timestamp,
  },
  { $id: 'ExceptionOperation' },
)
const AccountDifference = Closed(
  {
    accountId: Id,
    addressId: Id,
    tokenId: Id,
    purpose: Enum(['available', 'reserved']),
    balance: Amount,
    balanceOfEntries: Amount,
  },
  { $id: 'AccountDifference' },
)
export const OperationsExceptionsReport = Closed(
  {
    report: Ref(ReportHeader),
    dataQuality: Ref(ReportDataQuality),
    accountDifferences: Type.Array(Ref(AccountDifference)),
    items: Type.Array(Ref(ExceptionOperation)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'OperationsExceptionsReport' },
)

const PolicyApprovals = Closed(
  {
    policyId: Id,
    policyCode: Text('large-transfers'),
    policyName: Text('Large transfers'),
    operationsRequiringApproval: Count,
    bypassedOperations: Count,
    approvedOperations: Count,
    rejectedOperations: Count,
    cancelledOperations: Count,
    pendingOperations: Count,
    ...approvalSeconds,
  },
  { $id: 'PolicyApprovals' },
)
const ApproverActivity = Closed(
  {
    userId: Text('cmi8h2k1p0a1b2c3d4e5f6g7h'),
    user: Nullable(Profile),
    askedCount: Count,
    approvedCount: Count,
    rejectedCount: Count,
    withoutVoteCount: Count,
    averageVoteSeconds: Seconds,
    medianVoteSeconds: Seconds,
    maximumVoteSeconds: Seconds,
  },
  { $id: 'ApproverActivity' },
)
export const ApprovalActivityReport = Closed(
  {
    report: Ref(ReportHeader),
    approvals: Ref(ActivityApprovals),
    byPolicy: Type.Array(Ref(PolicyApprovals)),
    byApprover: Type.Array(Ref(ApproverActivity)),
  },
  { $id: 'ApprovalActivityReport' },
)

const categoryFigures = {
  count: Count,
  incomingByAsset: AssetAmounts,
  outgoingByAsset: AssetAmounts,
  usdValue: Usd,
}
const CategoryFieldAnalytics = Closed(
  {
    key: Text('cost_centre'),
    label: Text('Cost centre'),
    type: Text('select'),
    unit: Nullable(Text('h')),
    currencyFieldKey: Nullable(Text('currency')),
    sensitive: Type.Boolean({ examples: [false] }),
    archived: Type.Boolean({ examples: [false] }),
    values: Type.Array(Closed({ value: Nullable(Text('marketing')), ...categoryFigures })),
    otherCount: Count,
    redactedCount: Count,
    sums: Type.Array(
      Closed({
        unit: Nullable(Text('h')),
        currency: Nullable(Text('EUR')),
        count: Count,
        sum: Text('1250.50'),
        minimum: Text('10.00'),
        maximum: Text('400.00'),
      }),
    ),
  },
  { $id: 'CategoryFieldAnalytics' },
)
export const CategoryAnalyticsReport = Closed(
  {
    report: Ref(ReportHeader),
    category: Closed({ id: Id, key: Text('payroll'), name: Text('Payroll') }),
    summary: Closed(categoryFigures),
    fields: Type.Array(Ref(CategoryFieldAnalytics)),
  },
  { $id: 'CategoryAnalyticsReport' },
)

export const reportComponents = [
  ReportHeader,
  AssetAmount,
  ActivitySummary,
  ActivityByAsset,
  ActivityByCounterparty,
  ActivityByOwnAddress,
  ActivityByStatus,
  ActivityByCategory,
  ActivityByAddressOwner,
  ActivityPeriod,
  ActivityApprovals,
  ReportObservation,
  ReportDataQuality,
  ReportComparison,
  AddressActivityReport,
  CounterpartyActivityReport,
  CounterpartyGroupActivityReport,
  TransactionActivityReport,
  AssetBalance,
  AssetMovementReport,
  Standing,
  StatementLine,
  AccountStatementReport,
  ExceptionOperation,
  AccountDifference,
  OperationsExceptionsReport,
  PolicyApprovals,
  ApproverActivity,
  ApprovalActivityReport,
  CategoryFieldAnalytics,
  CategoryAnalyticsReport,
]
