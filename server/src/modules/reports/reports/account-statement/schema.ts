import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { entryKinds } from '../../../money/ledger/postings.ts'
import { Amount, asset, BreakdownIgnored, commonQuery, filters, named, ReportHeader, shownAs, Text } from '../schema.ts'

export const AccountStatementQuery = Closed({
  ...commonQuery,
  addressId: described(
    Type.String({ minLength: 1, maxLength: 128 }),
    'Identifier of the address whose statement it is.',
  ),
  tokenId: described(Type.String({ minLength: 1, maxLength: 128 }), 'Identifier of the token whose statement it is.'),
  categoryKeys: filters.categoryKeys,
  categoryField: filters.categoryField,
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const AccountStanding = Closed(
  { available: Amount, reserved: Amount, balance: Amount },
  { $id: 'AccountStanding', description: 'The balance is available and reserved together.' },
)

export const StatementTotals = Closed(
  { debits: Amount, credits: Amount },
  {
    $id: 'AccountStatementTotals',
    description: 'What left and what reached the account in the interval: opening + credits - debits = closing.',
  },
)

export const StatementLine = Closed(
  {
    id: Id,
    kind: described(
      Enum(entryKinds),
      'What happened: a receipt, the reservation of a transfer, its settlement, its release, a network fee, or an adjustment.',
    ),
    operationId: described(Id, 'Identifier of the transfer, deposit or adjustment.'),
    operationType: described(Nullable(Enum(['transfer', 'deposit'])), 'Kind of the operation; null for an adjustment.'),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    counterparty: named,
    otherAddress: Nullable(
      Type.String({
        description: 'Address of the other side of the operation.',
        examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
      }),
    ),
    paymentPurpose: Nullable(Text('Invoice 4711')),
    note: Nullable(Text('Second instalment')),
    debit: Nullable(Amount),
    credit: Nullable(Amount),
    usdValue: Nullable(
      shownAs(
        'usd',
        Type.String({
          description: 'USD value of the operation at its creation, at the posting of its amount; null at others.',
          examples: ['1250.50'],
        }),
      ),
    ),
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
    account: described(
      Closed({
        addressId: Id,
        address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
        label: Nullable(Text('Operations')),
        ...asset,
      }),
      'The address and token that the statement is about.',
    ),
    opening: Ref(AccountStanding),
    closing: Ref(AccountStanding),
    totals: Ref(StatementTotals),
    lines: described(Type.Array(Ref(StatementLine)), 'The postings of the account, in their order.'),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'AccountStatementReport' },
)
