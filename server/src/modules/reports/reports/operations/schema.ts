import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { flowTypes, operationTypes } from '../../../../lib/operations.ts'
import { reportedStatuses } from '../activity.ts'
import { Amount, BreakdownIgnored, commonQuery, Figure, filters, named, ReportHeader, Text, Usd } from '../schema.ts'

export const OperationsQuery = Closed({ ...commonQuery, ...filters, breakdownBy: BreakdownIgnored, ...pageQuery })

export const ReportedOperation = Closed(
  {
    createdAt: Timestamp,
    id: Id,
    operationType: Enum(operationTypes),
    direction: Enum(['in', 'out']),
    status: described(Enum(reportedStatuses), 'Status of the operation.'),
    flowType: Enum(flowTypes),
    network: Text('ethereum'),
    tokenId: Id,
    asset: Text('USDT'),
    amount: Amount,
    usdRate: Nullable(Figure('1.0002')),
    usdValue: Nullable(Usd),
    fee: described(
      Nullable(Amount),
      'Network fee of a transfer in units of `feeAsset`; null if none was paid or it is unknown.',
    ),
    feeAsset: described(Nullable(Text('ETH')), 'Code of the coin in which the fee was paid; null without a fee.'),
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    addressLabel: Nullable(Text('Operations')),
    otherAddress: Nullable(
      Type.String({ description: 'The other side.', examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'] }),
    ),
    counterparty: named,
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    initiatorId: Nullable(Id),
    initiatorName: described(
      Nullable(Text('Treasurer')),
      'Name of the user or service that ordered the transfer; null for a deposit.',
    ),
    decisionPolicyCode: Nullable(Text('large-transfers')),
    failureReason: Nullable(Text('APPROVAL_EXPIRED')),
    paymentPurpose: Nullable(Text('Invoice 4711')),
    note: Nullable(Text('Second instalment')),
    tags: Type.Array(Text('urgent')),
    blockchainAt: Nullable(Timestamp),
    confirmedAt: Nullable(Timestamp),
    categories: Type.Array(Text('payroll'), {
      description: 'Keys of the assigned categories that the caller sees, in the order in which they were assigned.',
    }),
    categoryValues: Type.Record(Type.String(), Nullable(Type.String()), {
      description:
        'The values of their fields by `category.field`, which is a column of a file; null for what is sensitive and not ' +
        'for the caller.',
      examples: [{ 'payroll.hours': '3.50' }],
    }),
  },
  { $id: 'ReportedOperation' },
)

export const CategoryColumn = Closed(
  {
    key: described(Text('payroll.hours'), 'Name of the column: key of the category, a dot, and key of the field.'),
    categoryKey: described(Text('payroll'), 'Key of the category.'),
    categoryName: described(Text('Payroll'), 'Name of the category.'),
    fieldKey: described(Text('hours'), 'Key of the field in the category.'),
    label: described(Text('Hours'), 'Label of the field for people to read.'),
    type: described(Text('number'), 'Type of the values.'),
    unit: Nullable(Text('h')),
  },
  { $id: 'CategoryColumn', description: 'A field of a category that an operation of the report has.' },
)

export const OperationsReport = Closed(
  {
    report: Ref(ReportHeader),
    categoryColumns: described(
      Type.Array(Ref(CategoryColumn)),
      'The fields of categories that at least one operation has, each a column of a file.',
    ),
    items: Type.Array(Ref(ReportedOperation)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'OperationsReport' },
)
