import Type, { type Static } from 'typebox'
import { acceptedMax, replayedMax } from '../limits.ts'
import { Address, Amount, ContractAddress, DerivationPath, Network, TransferId, TxHash } from '../protocol.ts'

const strict = { additionalProperties: false }

const Cursor = { pattern: '^[A-Za-z0-9_-]{1,200}$', examples: ['MTI4IDZmMWQ1YjBh'] }
const EventId = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  description: 'Id of an event, its header webhook-id.',
  examples: ['evt_5f0c6a4b1d2e3f405162738495a6b7c8'],
})

export const AcceptedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        ...Cursor,
        description: 'The cursor of the previous answer. Without it, the answer begins with the first entry.',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `Maximum number of entries in the answer: 1 to ${acceptedMax}, which is the default.`,
        examples: ['1000'],
      }),
    ),
  },
  strict,
)
export type AcceptedQuery = Static<typeof AcceptedQuery>

const AcceptedTransfer = Type.Object({ kind: Type.Literal('transfer'), id: TransferId }, strict)
const AcceptedAddress = Type.Object(
  { kind: Type.Literal('address'), network: Network, derivationPath: DerivationPath, address: Address },
  strict,
)
const AcceptedEvent = Type.Object(
  {
    kind: Type.Literal('event'),
    id: EventId,
    network: Network,
    asset: ContractAddress,
    toAddress: Address,
    txHash: TxHash,
    index: Type.Integer({ minimum: 0 }),
    occurrence: Type.Integer({ minimum: 0 }),
    isOrphan: Type.Boolean({ description: 'true for DEPOSIT_ORPHANED, false for TOPUP.' }),
  },
  strict,
)
const FoundTransaction = Type.Object(
  {
    kind: Type.Literal('transaction'),
    network: Network,
    txHash: TxHash,
    fromAddress: Address,
    nonce: Type.Integer({ minimum: 0 }),
    fee: Amount,
    payments: Type.Array(Type.Object({ toAddress: Address, contractAddress: ContractAddress, amount: Amount }, strict)),
  },
  {
    ...strict,
    description:
      'A mined transaction of an address of the client that the wallet service has no record of, with its fee and what it moved ' +
      'out of the address.',
  },
)
export type FoundTransaction = Static<typeof FoundTransaction>

export const Accepted = Type.Object(
  {
    entries: Type.Array(Type.Union([AcceptedTransfer, AcceptedAddress, AcceptedEvent, FoundTransaction]), {
      maxItems: acceptedMax,
      description:
        'In the order in which they were accepted; nothing is ever inserted before an entry that was listed.',
    }),
    count: Type.Integer({ minimum: 0, description: 'Number of all entries.' }),
    cursor: Type.String({ ...Cursor, description: 'The position after the last entry. It is opaque.' }),
    database: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,100}$',
        description:
          'Mark of the database of the wallet service. It changes after a restore, even if no entry was lost, and after a promotion.',
        examples: ['0cc175b9c0f1b6a831c399e269772661'],
      }),
    ),
  },
  { ...strict, title: 'Accepted' },
)
export type Accepted = Static<typeof Accepted>

export const EventReplay = Type.Object(
  { ids: Type.Array(EventId, { minItems: 1, maxItems: replayedMax, description: 'The events that are sent again.' }) },
  { ...strict, title: 'EventReplay' },
)
export const ReplayedEvents = Type.Object(
  {
    replayed: Type.Integer({
      minimum: 0,
      description: 'Number of these events that belong to the client and are sent again.',
    }),
  },
  { ...strict, title: 'ReplayedEvents' },
)
