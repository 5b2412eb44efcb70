import { Type } from 'typebox'
import { Closed, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { reportedStatuses } from '../activity.ts'
import { exceptionKinds, ReportDataQuality } from '../blocks/data-quality.ts'
import { BreakdownIgnored, commonQuery, filters, List } from '../query-schema.ts'
import { Amount, named, ReportHeader, Text, Usd } from '../schema.ts'

export const OperationsExceptionsQuery = Closed({
  ...commonQuery,
  ...filters,
  exceptions: List('Figures of `dataQuality` whose operations are listed; defaults to all.'),
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const ExceptionOperation = Closed(
  {
    id: Id,
    exceptions: Type.Array(Enum(exceptionKinds)),
    operationType: Enum(['transfer', 'deposit']),
    status: Enum(reportedStatuses),
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

export const AccountDifference = Closed(
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
