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
  optional,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { noteLengthMax } from '../../../lib/limits.ts'
import { CounterpartySnapshot } from '../../address-book/counterparties/schema.ts'
import { OperationMetadata } from '../../operations/metadata/schema.ts'
import { ScreeningBeside } from '../screening/schema.ts'
import { notFinalReasons } from './parse-event.ts'

const Text = (example: string) => Type.String({ examples: [example] })

const quarantineReasons = ['amount_differs', 'overflow', 'orphan_differs'] as const
const eventReasons = [
  ...notFinalReasons,
  'unknown_kind',
  'unknown_network',
  'unknown_token',
  'disabled_token',
  'orphaned',
  'not_credited',
  ...quarantineReasons,
] as const
const eventOutcomes = ['credited', 'duplicate', 'ignored', 'unmatched', 'quarantined', 'orphaned'] as const

export type QuarantineReason = (typeof quarantineReasons)[number]
export type EventReason = (typeof eventReasons)[number]
export type EventOutcome = (typeof eventOutcomes)[number]

export const Deposit = Closed(
  {
    id: Id,
    vaultId: Id,
    addressId: Id,
    address: described(
      Closed({
        id: Id,
        address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
        label: Nullable(Text('Operations')),
      }),
      'The address of the vault that received the deposit.',
    ),
    network: Text('ethereum'),
    tokenId: Id,
    asset: Text('USDT'),
    assetSymbol: Text('₮'),
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    txHash: Text('0x7f9c3f5b5d3a'),
    index: Type.Integer({ minimum: 0, examples: [0] }),
    fromAddress: Nullable(Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')),
    counterparty: Nullable(Ref(CounterpartySnapshot)),
    counterpartyAddressId: Nullable(Id),
    flowType: Enum(['internal', 'external']),
    usdRate: Nullable(Text('1.0002')),
    usdRateAsOf: Nullable(Timestamp),
    usdRateSource: Nullable(Text('manual')),
    usdValue: Nullable(Text('1.50')),
    isDust: Type.Boolean({
      description: 'True if the amount is below the present dust limit of the token.',
      examples: [false],
    }),
    metadata: Ref(OperationMetadata),
    blockchainAt: Nullable(Timestamp),
    screening: ScreeningBeside,
    outcome: described(
      Enum(['credited', 'quarantined']),
      '`credited`, or `quarantined`: held back from the balance until people have examined it.',
    ),
    reason: described(Nullable(Enum(quarantineReasons)), 'Why the deposit is in quarantine; null if it is not.'),
    orphaned: described(
      Nullable(
        Closed({
          orphanedAt: described(Timestamp, 'Instant at which it was taken back, in UTC.'),
          taken: described(RawAmount, 'Part that was taken back from the available balance of the address.'),
          takenDecimal: DecimalAmount,
          exposed: described(
            RawAmount,
            'The part that had been spent or reserved by then, which is the exposure of the address.',
          ),
          exposedDecimal: DecimalAmount,
        }),
      ),
      'A credited deposit that the chain no longer has; null otherwise, also when it came back.',
    ),
    createdAt: Timestamp,
  },
  { $id: 'Deposit', description: 'A payment that an address of the vault received.' },
)

export const UncreditedEvent = Closed(
  {
    id: Id,
    vaultId: Nullable(Id),
    outcome: described(
      Enum(['ignored', 'unmatched']),
      '`ignored`: its content credits nothing. `unmatched`: its address belongs to no vault.',
    ),
    reason: described(Nullable(Enum(eventReasons)), 'Why the event credited nothing; null if its address is unknown.'),
    network: Nullable(Text('ethereum')),
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    amountDecimal: Nullable(Text('1.5')),
    toAddress: Nullable(Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    index: Nullable(Type.Integer({ minimum: 0, examples: [0] })),
    fromAddress: Nullable(Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')),
    misses: described(
      Nullable(Enum(['address'])),
      'The missing object of an unmatched event: an `address` of a vault that its signature may credit. null if the event ' +
        'is ignored.',
    ),
    isOrphaned: Type.Boolean({
      description: 'True if the event reports that the chain lost the deposit (`DEPOSIT_ORPHANED`).',
      examples: [false],
    }),
    isOverdue: Type.Boolean({
      description: 'True if the event has been unmatched for more than a day.',
      examples: [false],
    }),
    blockchainAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  {
    $id: 'UncreditedEvent',
    description:
      'A signed wallet event that credited nothing. The fields are copied from the event; they are null for kinds other ' +
      'than TOPUP and DEPOSIT_ORPHANED. `vaultId` is null when the vault is unknown.',
  },
)

export const EventResolution = Closed(
  {
    outcome: described(
      Enum(['credit', 'dismiss']),
      '`credit`: the books follow the event, if the chain confirms it. `dismiss`: they stay as they are.',
    ),
    reason: Type.String({
      minLength: 1,
      maxLength: noteLengthMax,
      pattern: '\\S',
      description: 'Reason, for the voters and the audit log.',
      examples: ['The first report came from a node on another fork'],
    }),
  },
  { $id: 'EventResolution', description: 'Resolution of a quarantined event.' },
)

export const UncreditedQuery = Closed({
  outcome: described(Enum(['ignored', 'unmatched']), 'Restricts the list to events of this outcome.'),
  ...pageQuery,
})

export const DepositQuery = Closed({
  outcome: optional(
    Enum(['credited', 'quarantined', 'ignored', 'unmatched']),
    '`credited` or `quarantined` lists deposits of this outcome, `ignored` or `unmatched` events that credited nothing.',
  ),
  userId: optional(
    Type.String({ minLength: 1, maxLength: 128 }),
    'Restricts the list to this owner of addresses. Only administrators and auditors may name another user.',
  ),
  folderId: FolderFilter,
  includeShared: IncludeShared,
  addressId: optional(
    Type.String({ minLength: 1, maxLength: 128 }),
    'Restricts the list to deposits at this address of the vault.',
  ),
  ...pageQuery,
})

export const WebhookAnswer = Closed(
  {
    received: described(Type.Literal(true), 'Always true: the service has stored the event.'),
    outcome: described(
      Enum(eventOutcomes),
      'Outcome of the event. `duplicate`: the event was received before, or is outdated, and nothing was changed. ' +
        '`orphaned`: the credited amount was taken back.',
    ),
    reason: optional(
      Enum(eventReasons),
      'Reason why the event credited nothing, or the deposit is quarantined; left out if it was credited.',
    ),
    depositId: optional(Id, 'Identifier of the deposit; absent if the event made no deposit.'),
  },
  { $id: 'WebhookAnswer' },
)

/** Documents the event. The handler itself validates it, because unknown fields of a wallet must not lose a deposit. */
export const WalletEvent = Type.Object(
  {
    kind: Type.Optional(
      Type.String({
        examples: ['TOPUP'],
        description: '`TOPUP` or `DEPOSIT_ORPHANED`; also read from `type` or `event`.',
      }),
    ),
    id: optional(Type.String({ examples: ['evt_1'] }), 'Identifier that the wallet service gave the event.'),
    tx: optional(
      Type.Object({
        network: described(
          Text('ethereum'),
          'Slug of the network; where no network has it, its code or name in any case, if exactly one network has it.',
        ),
        asset: Type.Optional(
          Nullable(
            Type.String({
              examples: ['0x5FbDB2315678afecb367f032d93F642f64180aa3'],
              description: 'Contract; empty, null, `native` or the zero address: the coin of the network.',
            }),
          ),
        ),
        amount: described(DecimalAmount, 'Amount in token units, as a decimal string.'),
        toAddress: described(
          Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
          'On-chain address that received the payment.',
        ),
        txHash: described(Text('0x7f9c3f5b5d3a'), 'Hash of the transaction.'),
        index: optional(
          Type.Integer({ minimum: 0, examples: [0] }),
          'Position of the payment in its transaction; 0 if it is left out.',
        ),
        occurrence: optional(
          Type.Integer({ minimum: 0, examples: [0] }),
          'Number of times that the deposit had been reported as orphaned before; 0 if left out.',
        ),
        fromAddress: optional(
          Nullable(Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')),
          'On-chain address of the sender, if it is known.',
        ),
        blockTime: optional(Nullable(Timestamp), 'Time of the block, in UTC, if it is known.'),
        confirmations: Type.Optional(
          Nullable(
            Type.Integer({
              minimum: 0,
              description: '0 means that the transaction is not final: it is not credited yet.',
              examples: [12],
            }),
          ),
        ),
        status: Type.Optional(
          Nullable(
            Type.String({
              description:
                'The status of the transaction: `failed` and `reverted` are not credited, `pending` is not credited yet.',
              examples: ['confirmed'],
            }),
          ),
        ),
        success: Type.Optional(
          Nullable(
            Type.Boolean({ description: 'false: the transaction failed; it is not credited.', examples: [true] }),
          ),
        ),
      }),
      'The transaction of the deposit.',
    ),
  },
  { $id: 'WalletEvent' },
)

export const depositComponents = [Deposit, UncreditedEvent, EventResolution, WebhookAnswer, WalletEvent]
