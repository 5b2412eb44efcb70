import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  Enum,
  FolderFilter,
  Id,
  IncludeShared,
  Nullable,
  Profile,
  pageQuery,
  RawAmount,
  Ref,
  Tags,
  Timestamp,
} from '../../../http/schema.ts'
import { addressLengthMax, noteLengthMax } from '../../../lib/limits.ts'
import { flowTypes, operationStatuses } from '../../../lib/operations.ts'
import { CounterpartySnapshot } from '../../address-book/counterparties/schema.ts'
import { OperationMetadata } from '../../operations/metadata/schema.ts'
import { PolicyDecision, PolicyTrace } from '../../rules/policies/schema.ts'
import { Approver, QuorumReachable } from '../../rules/votes/schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const Transfer = Closed(
  {
    id: Id,
    vaultId: Id,
    fromAddressId: Id,
    initiatorId: Id,
    toAddress: Text(evmAddress),
    toAddressId: Nullable(Id),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    asset: Text('USDT'),
    assetSymbol: Text('₮'),
    tokenId: Id,
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    network: Text('ethereum'),
    status: Enum(operationStatuses),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    fee: Nullable(
      Type.String({
        description: 'Network fee paid, in the smallest unit of the native coin.',
        examples: ['21000000000000'],
      }),
    ),
    decisionPolicyId: Nullable(Id),
    decisionPolicyCode: Nullable(Text('large-transfers')),
    decisionPolicyName: Nullable(Text('Large transfers need two votes')),
    failureReason: Nullable(
      Type.String({
        description:
          '`APPROVAL_EXPIRED`, `WALLET_REFUSED: …`, the failure reported by the wallet service, or `NO_LONGER_ALLOWED: ' +
          '…` when the check before the hand-over refused it.',
        examples: ['APPROVAL_EXPIRED'],
      }),
    ),
    haltReason: Nullable(
      Type.String({
        description:
          'Why the transfer is halted or held back, for example a difference from its audit record. Its funds stay reserved.',
        examples: ['The wallet service reports another amount'],
      }),
    ),
    flowType: Enum(flowTypes),
    decision: Type.Optional(Ref(PolicyDecision)),
    approvalThreshold: Type.Integer({ minimum: 0, examples: [2] }),
    approvalRequirements: Type.Array(
      Closed({
        policyId: Id,
        policyCode: Text('large-transfers'),
        threshold: Type.Integer({ minimum: 1, examples: [2] }),
        approvalsCount: Type.Integer({ minimum: 0, examples: [1] }),
        bypassed: Type.Boolean(),
      }),
    ),
    approvers: Type.Array(Approver),
    quorumReachable: QuorumReachable,
    payloadHash: Type.String({
      description: 'SHA-256 (hex) of the order to which votes and hand-over are bound.',
      pattern: '^[0-9a-f]{64}$',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    vault: Closed({ id: Id, code: Text('main-vault'), name: Text('Main vault') }),
    initiator: Ref(Profile),
    counterparty: Nullable(Ref(CounterpartySnapshot)),
    counterpartyAddressId: Nullable(Id),
    fromAddress: Closed({
      id: Id,
      address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
      derivationPath: Text('m/44/60/1/0'),
      network: Text('ethereum'),
    }),
    metadata: Ref(OperationMetadata),
    usdRate: Nullable(Text('1.0002')),
    usdRateAsOf: Nullable(Timestamp),
    usdRateSource: Nullable(Text('manual')),
    usdValue: Nullable(Text('1.50')),
    expiresAt: Nullable(Timestamp),
    createdAt: Timestamp,
    confirmedAt: Nullable(Timestamp),
    updatedAt: Timestamp,
  },
  { $id: 'Transfer' },
)

const orderFields = {
  fromAddressId: Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
  toAddress: Type.String({ minLength: 1, maxLength: addressLengthMax, examples: [evmAddress] }),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'Token code; the primary token of the address when neither code nor id is given. Given with an id, it must be ' +
        'the code of that token.',
      examples: ['USDT'],
    }),
  ),
  tokenId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  amount: DecimalAmount,
  counterpartyId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        'The intended recipient: the request is refused if `toAddress` is not an address of this counterparty.',
      examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  ),
  metadata: Type.Optional(
    Closed({
      category: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description:
              'Key of a category that needs neither values nor approval. The policies see it, and it is assigned with the transfer.',
            examples: ['payroll'],
          }),
        ),
      ),
      tags: Type.Optional(Tags),
      paymentPurpose: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Invoice 4711'] }))),
      note: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Agreed with the supplier'] }))),
    }),
  ),
}
export const TransferOrder = Closed(orderFields, { $id: 'TransferOrder' })

export const TransferPreview = Closed(
  {
    decision: Closed({
      effect: Enum(['allow', 'block', 'approval', 'deny']),
      blockReason: Nullable(Text('Transfers are closed at weekends')),
      decisionPolicy: Nullable(Closed({ id: Id, code: Text('large-transfers'), name: Text('Large transfers') })),
      requirements: Type.Array(
        Closed({
          policyId: Id,
          policyCode: Text('large-transfers'),
          threshold: Type.Integer({ examples: [2] }),
          bypassed: Type.Boolean(),
        }),
      ),
    }),
    trace: Type.Array(Ref(PolicyTrace)),
    fee: Nullable(
      Closed(
        { amount: RawAmount, amountDecimal: DecimalAmount, asset: Text('ETH') },
        { description: 'Estimate; null when the wallet service has none right now.' },
      ),
    ),
    available: RawAmount,
    availableDecimal: DecimalAmount,
    warnings: Type.Array(Enum(['look_alike'])),
  },
  { $id: 'TransferPreview' },
)

export const TransferQuery = Closed({
  status: Type.Optional(Enum(operationStatuses)),
  userId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  folderId: FolderFilter,
  includeShared: IncludeShared,
  ...pageQuery,
})

export const TransferEvidence = Closed(
  {
    schemaVersion: Type.Literal('1'),
    transfer: Ref(Transfer),
    payload: Type.Unsafe<unknown>(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The order; the SHA-256 of its canonical JSON is `payloadHash`.' },
      ),
    ),
    payloadHash: Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
    decision: Type.Unsafe<unknown>(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The decision with the matching policies as they were.' },
      ),
    ),
    ledgerEntries: Type.Array(
      Closed({
        sequence: Text('42'),
        kind: Text('reserve'),
        tokenId: Id,
        debitAccountId: Nullable(Id),
        creditAccountId: Nullable(Id),
        amount: RawAmount,
        debitBalance: Nullable(RawAmount),
        creditBalance: Nullable(RawAmount),
        createdAt: Timestamp,
      }),
    ),
    auditRecords: Type.Array(
      Closed({
        content: Type.String({ description: 'Canonical JSON whose SHA-256 is `hash`.' }),
        hash: Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
        sealSequence: Nullable(Type.Integer({ examples: [7] })),
      }),
    ),
    seals: Type.Array(
      Closed({
        sequence: Type.Integer({ examples: [7] }),
        previousHash: Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
        records: Type.Array(
          Closed({ id: Id, hash: Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08') }),
        ),
        sealedAt: Timestamp,
        hash: Text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
      }),
    ),
  },
  { $id: 'TransferEvidence' },
)

export const transferComponents = [Transfer, TransferOrder, TransferPreview, TransferEvidence]
