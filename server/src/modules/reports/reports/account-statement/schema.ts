import { Type } from 'typebox'
import { Closed, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { BreakdownIgnored, commonQuery, filters } from '../query-schema.ts'
import { Amount, asset, named, ReportHeader, Text } from '../schema.ts'

export const AccountStatementQuery = Closed({
  ...commonQuery,
  addressId: Type.String({ minLength: 1, maxLength: 128 }),
  tokenId: Type.String({ minLength: 1, maxLength: 128 }),
  categoryKeys: filters.categoryKeys,
  categoryField: filters.categoryField,
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const AccountStanding = Closed(
  { available: Amount, reserved: Amount, balance: Amount },
  { $id: 'AccountStanding', description: 'The balance is available and reserved together.' },
)

export const StatementLine = Closed(
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
    opening: Ref(AccountStanding),
    closing: Ref(AccountStanding),
    lines: Type.Array(Ref(StatementLine)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'AccountStatementReport' },
)
