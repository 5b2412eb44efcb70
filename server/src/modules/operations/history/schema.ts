import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  FolderFilter,
  Id,
  IncludeShared,
  Nullable,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
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
    status: described(Enum(operationStatuses), 'Status of the operation; a deposit is always `confirmed`.'),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    asset: Text('USDT'),
    assetSymbol: Text('₮'),
    tokenId: Id,
    fee: Nullable(RawAmount),
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
      'The sender; null if it is unknown. `id` and `label` are null for an address outside the vault.',
    ),
    toAddress: Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
    initiatorId: Nullable(Id),
    decisionPolicyId: Nullable(Id),
    decisionPolicyCode: Nullable(Text('large-transfers')),
    counterparty: Nullable(Closed({ id: Id, name: Text('Northwind Trading') })),
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
  },
  { $id: 'HistoryItem', description: 'A transfer or a deposit, from the side of one address of the vault.' },
)

const Bound = Type.Optional(
  Type.String({ maxLength: 40, description: 'Inclusive; ISO 8601 timestamp or date (UTC).', examples: ['2026-01-31'] }),
)
const Key = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }))

export const HistoryQuery = Closed({
  userId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Administrators only: restricts the list to this user.' }),
  ),
  direction: Type.Optional(described(Enum(['in', 'out']), 'Restricts the list to what arrived or to what left.')),
  status: Type.Optional(described(Enum(operationStatuses), 'Restricts the list to operations of this status.')),
  awaitingMyApproval: Type.Optional(
    Type.Boolean({ description: 'true: transfers of others that wait for the caller’s vote.' }),
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
  counterpartyGroupId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Counterparties that are in the group now.' }),
  ),
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
  txHash: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  from: Bound,
  to: Bound,
  ...pageQuery,
})

export const historyComponents = [HistoryItem]
