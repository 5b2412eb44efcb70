import { Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
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
import { CounterpartySnapshot } from '../../address-book/counterparties/schema.ts'
import { OperationMetadata } from '../../operations/metadata/schema.ts'
import { notFinalReasons } from './finality.ts'

const Text = (example: string) => Type.String({ examples: [example] })

const quarantineReasons = ['amount_differs', 'overflow'] as const
const eventReasons = [
  ...notFinalReasons,
  'unknown_kind',
  'unknown_network',
  'unknown_token',
  'disabled_token',
  ...quarantineReasons,
] as const
const eventOutcomes = ['credited', 'duplicate', 'ignored', 'unmatched', 'quarantined'] as const

export type QuarantineReason = (typeof quarantineReasons)[number]
export type EventReason = (typeof eventReasons)[number]
export type EventOutcome = (typeof eventOutcomes)[number]

export const Deposit = Closed(
  {
    id: Id,
    vaultId: Id,
    addressId: Id,
    address: Closed({
      id: Id,
      address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
      label: Nullable(Text('Operations')),
    }),
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
    isDust: Type.Boolean({ description: 'Below the dust limit of the token as it is now.', examples: [false] }),
    metadata: Ref(OperationMetadata),
    blockchainAt: Nullable(Timestamp),
    outcome: Enum(['credited', 'quarantined']),
    reason: Nullable(Enum(quarantineReasons)),
    createdAt: Timestamp,
  },
  { $id: 'Deposit' },
)

export const UncreditedEvent = Closed(
  {
    id: Id,
    vaultId: Nullable(Id),
    outcome: Enum(['ignored', 'unmatched']),
    reason: Nullable(Enum(eventReasons)),
    network: Nullable(Text('ethereum')),
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    amountDecimal: Nullable(Text('1.5')),
    toAddress: Nullable(Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    index: Nullable(Type.Integer({ minimum: 0, examples: [0] })),
    fromAddress: Nullable(Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')),
    blockchainAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  {
    $id: 'UncreditedEvent',
    description:
      'A signed wallet event that credited nothing. The fields are copied from the event; they are null for kinds other ' +
      'than TOPUP. `vaultId` is null when the vault is unknown.',
  },
)

export const UncreditedQuery = Closed({ outcome: Enum(['ignored', 'unmatched']), ...pageQuery })

export const DepositQuery = Closed({
  outcome: Type.Optional(Enum(['credited', 'quarantined', 'ignored', 'unmatched'])),
  userId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  folderId: FolderFilter,
  includeShared: IncludeShared,
  addressId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  ...pageQuery,
})

export const WebhookAnswer = Closed(
  {
    received: Type.Literal(true),
    outcome: Enum(eventOutcomes),
    reason: Type.Optional(Enum(eventReasons)),
    depositId: Type.Optional(Id),
  },
  { $id: 'WebhookAnswer' },
)

/** Documents the event; the handler itself validates it, because unknown fields of a wallet must not lose a deposit. */
export const WalletEvent = Type.Object(
  {
    kind: Type.Optional(Type.String({ examples: ['TOPUP'], description: 'Also read from `type` or `event`.' })),
    id: Type.Optional(Type.String({ examples: ['evt_1'] })),
    tx: Type.Optional(
      Type.Object({
        network: Text('ethereum'),
        asset: Type.Optional(
          Nullable(
            Type.String({
              examples: ['0x5FbDB2315678afecb367f032d93F642f64180aa3'],
              description: 'Contract; empty, null, `native` or the zero address: the coin of the network.',
            }),
          ),
        ),
        amount: DecimalAmount,
        toAddress: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
        txHash: Text('0x7f9c3f5b5d3a'),
        index: Type.Optional(Type.Integer({ minimum: 0, examples: [0] })),
        fromAddress: Type.Optional(Nullable(Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'))),
        blockTime: Type.Optional(Nullable(Timestamp)),
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
    ),
  },
  { $id: 'WalletEvent' },
)

export const depositComponents = [Deposit, UncreditedEvent, WebhookAnswer, WalletEvent]
