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
  Nullable,
  optional,
  Profile,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { flowTypes, operationStatuses } from '../../../lib/operations.ts'
import { CounterpartySnapshot } from '../../address-book/counterparties/schema.ts'
import { KnownAlike } from '../../address-book/recipients/schema.ts'
import { OperationMetadata } from '../../operations/metadata/schema.ts'
import { PolicyDecision, RulesVersionNumber } from '../../rules/decisions/schema.ts'
import { counterpartyKinds } from '../../rules/selectors/facts.ts'
import { Approver, groupVoteFields, PayloadHash, QuorumReachable } from '../../rules/votes/schema.ts'
import { HoldOnPayment } from '../holds/schema.ts'
import { TransferPayload } from '../orders/payload.ts'
import { ScreeningBeside } from '../screening/schema.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const TxIndex = described(
  Nullable(Type.Integer({ minimum: 0, examples: [1] })),
  'Number of the output of the transaction that pays the recipient, from 0, where one transaction may pay several ' +
    'transfers; null if the wallet service does not tell.',
)

/** The policy that decided on a transfer or a payout. */
export const decisionPolicyFields = {
  decisionPolicyId: Nullable(Id),
  decisionPolicyCode: Nullable(Text('large-transfers')),
  decisionPolicyName: Nullable(Text('Large transfers need two votes')),
}

/** The votes that a transfer or a payout needs, and the votes that it has. */
export const votesFields = {
  approvalThreshold: Type.Integer({ minimum: 0, examples: [2] }),
  approvalRequirements: described(
    Type.Array(
      Closed({
        policyId: Id,
        policyCode: Text('large-transfers'),
        threshold: Type.Integer({ minimum: 1, examples: [2] }),
        approvalsCount: Type.Integer({ minimum: 0, examples: [1] }),
        bypassed: Type.Boolean(),
        ...groupVoteFields,
      }),
    ),
    'The votes that are needed, per policy. All must be reached.',
  ),
  approvers: Type.Array(Approver),
  quorumReachable: QuorumReachable,
}

export const Recipient = Closed(
  {
    isFirstPayment: Type.Boolean({
      description: 'true: no confirmed transfer of the vault went to `toAddress`.',
      examples: [false],
    }),
    isLookAlike: Type.Boolean({
      description: 'true: `toAddress` begins and ends like an address that the vault knows, and is a different one.',
      examples: [false],
    }),
    lookAlikes: Type.Array(Ref(KnownAlike), {
      description: 'The addresses that `toAddress` resembles, as far as the reader knows them; the first three.',
    }),
    counterparty: described(
      Nullable(
        Closed({
          id: Id,
          name: Text('Harbour Trading'),
          kind: described(Enum(counterpartyKinds), 'Kind of the counterparty.'),
          isArchived: Type.Boolean({
            description: 'true: the entry is archived, and a payment to it is refused.',
            examples: [false],
          }),
        }),
      ),
      'Present counterparty of the address; null if the address book does not have the address.',
    ),
  },
  { $id: 'Recipient', description: 'Data of the whole vault about a recipient at the moment of reading.' },
)

/** The present facts about a waiting transfer, in the answer to a read of one transfer or of the rows of a payout. */
export const decidedFields = {
  holds: optional(
    Type.Array(Ref(HoldOnPayment)),
    'In the answer to the read of one transfer or of the rows of a payout, until it is handed over: the holds that stop it ' +
      'now, oldest first. A reader who may not read a hold and does not vote gets nothing of it.',
  ),
  isExposed: Type.Optional(
    Type.Boolean({
      description:
        'In the same answers. true: its address sends nothing now, because the chain took back a deposit that was already spent.',
      examples: [false],
    }),
  ),
  recipient: optional(
    Nullable(Ref(Recipient)),
    'In the same answers. Present only while the transfer waits for votes, and only for administrators, auditors and its ' +
      'approvers other than its initiator; null otherwise.',
  ),
}

export const Transfer = Closed(
  {
    id: Id,
    vaultId: Id,
    fromAddressId: described(Id, 'Identifier of the address of the vault that pays.'),
    initiatorId: Id,
    toAddress: Text(evmAddress),
    toAddressId: described(
      Nullable(Id),
      'Identifier of the recipient if it is an address of the vault; null otherwise.',
    ),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    asset: Text('USDT'),
    assetSymbol: Text('₮'),
    tokenId: Id,
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    network: Text('ethereum'),
    status: described(
      Enum(operationStatuses),
      '`awaiting_approval`; `pending` from the order or its last vote until its end; or one of the final states.',
    ),
    handedOverAt: described(
      Nullable(Timestamp),
      'Instant at which the order went to the wallet service, in UTC; null until the wallet service has answered that it has it.',
    ),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    txIndex: TxIndex,
    txHashes: described(
      Type.Array(Text('0x7f9c3f5b5d3a')),
      'All hashes that the wallet service has named, oldest first; the last one is `txHash`. A wallet may replace a ' +
        'transaction by one with the same nonce and a higher fee. At most one of them is mined.',
    ),
    fee: Nullable(
      Type.String({
        description: 'Network fee paid, in the smallest unit of the native coin.',
        examples: ['21000000000000'],
      }),
    ),
    feeUsdValue: FeeUsdValue,
    ...decisionPolicyFields,
    rulesVersion: RulesVersionNumber,
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
    stuckSince: described(
      Nullable(Timestamp),
      'Instant since which the wallet service has had it for longer than usual (`STUCK_AFTER_MINUTES`), in UTC; null ' +
        'otherwise.',
    ),
    screening: ScreeningBeside,
    flowType: Enum(flowTypes),
    decision: Type.Optional(Ref(PolicyDecision)),
    ...decidedFields,
    ...votesFields,
    payload: Ref(TransferPayload),
    payloadHash: described(PayloadHash, 'SHA-256 (hex) of `payload`, to which votes and hand-over are bound.'),
    vault: described(
      Closed({ id: Id, code: Text('main-vault'), name: Text('Main vault') }),
      'The vault that the transfer belongs to.',
    ),
    initiator: Ref(Profile),
    counterparty: Nullable(Ref(CounterpartySnapshot)),
    counterpartyAddressId: Nullable(Id),
    fromAddress: described(
      Closed({
        id: Id,
        address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
        derivationPath: Text('m/44/60/1/0'),
        network: Text('ethereum'),
      }),
      'The address of the vault that pays.',
    ),
    metadata: Ref(OperationMetadata),
    usdRate: Nullable(Text('1.0002')),
    usdRateAsOf: Nullable(Timestamp),
    usdRateSource: Nullable(Text('manual')),
    usdValue: Nullable(Text('1.50')),
    payoutId: described(
      Nullable(Id),
      'Identifier of the payout of which the transfer is a row and with which it waits for votes; null for a single transfer.',
    ),
    externalId: described(
      Nullable(Text('salary-2026-01-17')),
      'The id that the initiator gave the row of the payout; null for a single transfer.',
    ),
    expiresAt: described(
      Nullable(Timestamp),
      'Instant at which the time to vote ends, in UTC; null if no votes are needed.',
    ),
    createdAt: Timestamp,
    confirmedAt: Nullable(Timestamp),
    updatedAt: Timestamp,
  },
  { $id: 'Transfer', description: 'A payment from an address of the vault, with its decision, votes and state.' },
)

export const TransferQuery = Closed({
  status: optional(Enum(operationStatuses), 'Restricts the list to transfers of this status.'),
  userId: optional(
    Type.String({ minLength: 1, maxLength: 128 }),
    'Administrators only: restricts the list to this user.',
  ),
  folderId: FolderFilter,
  includeShared: IncludeShared,
  ...pageQuery,
})

export const transferComponents = [TransferPayload, Recipient, Transfer]
