import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  FeeUsdValue,
  FolderFilter,
  Id,
  IncludeShared,
  MemberProfile,
  Nullable,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { noteLengthMax, searchedPartMin } from '../../../lib/limits.ts'
import { flowTypes, operationStatuses, operationTypes } from '../../../lib/operations.ts'
import { OperationMetadata } from '../metadata/schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })

export const HistoryItem = Closed(
  {
    id: Id,
    direction: Enum(['in', 'out']),
    operationType: Enum(operationTypes),
    network: Text('ethereum'),
    flowType: Enum(flowTypes),
    status: described(
      Enum(operationStatuses),
      'Status of the operation. A deposit is `confirmed`, or `failed` while the chain no longer has it.',
    ),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    txIndex: described(
      Nullable(Type.Integer({ minimum: 0, examples: [1] })),
      'Number of the part of the transaction that moves the amount, such as an output, from 0; null if it is not known.',
    ),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    asset: Text('USDT'),
    assetSymbol: Text('₮'),
    tokenId: Id,
    fee: Nullable(RawAmount),
    feeUsdValue: FeeUsdValue,
    failureReason: Nullable(Text('APPROVAL_EXPIRED')),
    fromAddress: described(
      Type.Union([
        Closed({
          id: Nullable(Id),
          address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
          label: Nullable(Text('Operations')),
        }),
        Type.Null(),
      ]),
      'The sender; null if it is unknown. `id` and `label` are null unless it is an address that the caller sees.',
    ),
    toAddress: Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
    fromAddressLabel: described(Nullable(Text('Operations')), 'Label of the sender, if the caller sees its address.'),
    toAddressId: described(
      Nullable(Id),
      'Identifier of the recipient, if it is an address of the vault that the caller sees.',
    ),
    toAddressLabel: described(Nullable(Text('Payroll')), 'Label of the recipient, if the caller sees its address.'),
    initiatorId: Nullable(Id),
    initiator: described(Nullable(Ref(MemberProfile)), 'Initiator of the transfer; null for a deposit.'),
    expiresAt: described(
      Nullable(Timestamp),
      'Time at which a transfer expires unless it is approved before; null for other operations.',
    ),
    decisionPolicyId: Nullable(Id),
    decisionPolicyCode: Nullable(Text('large-transfers')),
    counterparty: Nullable(Closed({ id: Id, name: Text('Northwind Trading') })),
    payoutId: described(Nullable(Id), 'Identifier of the payout that the transfer is a row of; null otherwise.'),
    externalId: described(
      Nullable(Text('salary-2026-01-17')),
      'The id that the initiator of the payout gave the row; null otherwise.',
    ),
    approvalThreshold: Type.Integer({ minimum: 0, examples: [2] }),
    approvalsCount: Type.Integer({ minimum: 0, examples: [1] }),
    usdRate: Nullable(Text('1.0002')),
    usdValue: Nullable(Text('1.50')),
    usdRateSource: Nullable(Text('manual')),
    metadata: Ref(OperationMetadata),
    warnings: Type.Array(Enum(['look_alike', 'dust']), {
      description:
        'Warnings about the other address. `look_alike`: it resembles, but is not, an address that the caller knows. ' +
        '`dust`: the deposit is below the dust limit of the token. Do not copy such an address as a recipient.',
    }),
    createdAt: Timestamp,
    confirmedAt: Nullable(Timestamp),
    orphanedAt: described(
      Nullable(Timestamp),
      'Instant at which the chain lost a credited deposit, in UTC; null for other operations, and once it came back.',
    ),
  },
  { $id: 'HistoryItem', description: 'A transfer or a deposit, from the side of one address of the vault.' },
)

const anyStatus = operationStatuses.join('|')
const Bound = Type.Optional(
  Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date (UTC).', examples: ['2026-01-31'] }),
)
const Key = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }))

export const HistoryQuery = Closed({
  userId: described(Key, 'Administrators only: restricts the list to this user.'),
  direction: Type.Optional(
    described(Enum(['in', 'out']), 'Restricts the list to deposits (`in`) or to transfers (`out`).'),
  ),
  status: Type.Optional(
    Type.Unsafe<string[]>(
      Type.Array(Type.String({ pattern: `^(${anyStatus})(,(${anyStatus}))*$`, examples: ['pending'] }), {
        maxItems: operationStatuses.length,
        description:
          `Restricts the list to operations of these statuses: ${operationStatuses.join(', ')}. ` +
          'Comma-separated or repeated.',
      }),
    ),
  ),
  statuses: Type.Optional(
    Type.Unsafe<string[]>(
      Type.Array(Type.String({ pattern: `^(${anyStatus})(,(${anyStatus}))*$`, examples: ['confirmed'] }), {
        maxItems: operationStatuses.length,
        description:
          'Statuses of transfers and deposits, as in reports: a deposit is `confirmed`, or `failed` while the chain no longer ' +
          'has it. With `status`, both apply. Comma-separated or repeated.',
      }),
    ),
  ),
  initiatorId: described(Key, 'Restricts the list to transfers that this member ordered.'),
  minimumAmount: Type.Optional(described(RawAmount, 'The smallest raw amount, inclusive; requires `tokenId`.')),
  maximumAmount: Type.Optional(described(RawAmount, 'The largest raw amount, inclusive; requires `tokenId`.')),
  search: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      description:
        'Part of the purpose, the note or the name of the counterparty, regardless of case; from ' +
        `${searchedPartMin} characters on also of the transaction hash or the address of the other side.`,
      examples: ['northwind'],
    }),
  ),
  awaitingMyApproval: Type.Optional(
    Type.Boolean({ description: 'true: transfers of others that wait for the vote of the caller.' }),
  ),
  asset: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Token code.', examples: ['USDT'] })),
  tokenId: Key,
  network: Type.Optional(Type.String({ minLength: 1, maxLength: 64, examples: ['ethereum'] })),
  addressId: described(Key, 'Restricts the list to operations of this address of the vault.'),
  folderId: FolderFilter,
  includeShared: IncludeShared,
  flowType: Type.Optional(
    described(Enum(flowTypes), 'Restricts the list to payments within the vault or across its border.'),
  ),
  counterpartyId: Key,
  counterpartyGroupId: described(Key, 'Counterparties that are in the group now.'),
  counterpartyAddressId: Key,
  category: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        'Key of a category that is assigned to the operation; assignments that the caller may not see do not count.',
      examples: ['payroll'],
    }),
  ),
  paymentPurpose: Type.Optional(
    Type.String({ minLength: 1, maxLength: noteLengthMax, description: 'Exact match.', examples: ['Invoice 4711'] }),
  ),
  decisionPolicyId: Key,
  txHash: Key,
  from: Bound,
  to: Bound,
  ...pageQuery,
})

export const historyComponents = [HistoryItem]
