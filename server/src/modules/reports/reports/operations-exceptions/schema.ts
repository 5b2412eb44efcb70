import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { reportedStatuses } from '../activity.ts'
import { exceptionKinds, ReportDataQuality } from '../blocks/data-quality.ts'
import { Amount, BreakdownIgnored, commonQuery, filters, List, named, ReportHeader, Text, Usd } from '../schema.ts'

export const OperationsExceptionsQuery = Closed({
  ...commonQuery,
  ...filters,
  exceptions: List(
    'Figures of `dataQuality` whose operations are listed; defaults to all.',
    'operationsWithoutUsdRate',
  ),
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const ExceptionOperation = Closed(
  {
    id: Id,
    exceptions: described(Type.Array(Enum(exceptionKinds)), 'The figures of `dataQuality` that count the operation.'),
    operationType: Enum(['transfer', 'deposit']),
    status: described(Enum(reportedStatuses), 'Status of the operation.'),
    addressId: described(Id, 'Identifier of the address of the vault that is the own side.'),
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

export const AccountDifference = Closed(
  {
    accountId: described(Id, 'Identifier of the account.'),
    addressId: Id,
    tokenId: Id,
    purpose: described(
      Enum(['available', 'reserved']),
      'The account of the address: what can be spent, or what is reserved.',
    ),
    balance: described(Amount, 'Balance of the account as stored, in token units.'),
    balanceOfEntries: Amount,
  },
  { $id: 'AccountDifference' },
)

export const OperationsExceptionsReport = Closed(
  {
    report: Ref(ReportHeader),
    dataQuality: Ref(ReportDataQuality),
    accountDifferences: described(
      Type.Array(Ref(AccountDifference)),
      'Accounts whose balance is not the one that their newest entry left.',
    ),
    items: Type.Array(Ref(ExceptionOperation)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'OperationsExceptionsReport' },
)
