import { Ajv, type ValidateFunction } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import { rivalOutputsMax, txIndexMax, walletChangesMax } from '../../../lib/limits.ts'
import { rawAmountPattern } from '../../../lib/money.ts'

/**
 * The answers of a wallet service (contract 17). Unknown members are ignored, so that the protocol can be extended;
 * known members must match their schema exactly.
 */

const Amount = Type.String({ pattern: rawAmountPattern })
const Visible = Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$' })
const Text = Type.String({ maxLength: 4_000 })
const Instant = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
})
const OrNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Output = Type.Object({ txHash: Visible, index: Type.Integer({ minimum: 0 }) })

export const DerivedAddress = Type.Object({ address: Visible })

export const ShownAccountKey = Type.Object({
  xpub: Visible,
  key: Visible,
  signature: Visible,
  /** The script of the addresses, on networks that have several. */
  script: Type.Optional(OrNull(Visible)),
})
/** The public key of an account and the key that signed it, before they are checked. */
export type ShownAccountKey = Static<typeof ShownAccountKey>

export const TransferStatus = Type.Object({
  id: Type.Optional(Visible),
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('broadcast'),
    Type.Literal('confirmed'),
    Type.Literal('failed'),
  ]),
  txHash: OrNull(Visible),
  /** The index of the part of the transaction that pays the transfer, such as an output. */
  index: Type.Optional(OrNull(Type.Integer({ minimum: 0, maximum: txIndexMax }))),
  fee: OrNull(Amount),
  feePaidBy: OrNull(Visible),
  confirmations: Type.Integer({ minimum: 0 }),
  blockTime: OrNull(Instant),
  failureReason: OrNull(Text),
  network: Type.Optional(OrNull(Visible)),
  fromAddress: Type.Optional(OrNull(Visible)),
  toAddress: Type.Optional(OrNull(Visible)),
  contractAddress: Type.Optional(OrNull(Visible)),
  amount: Type.Optional(OrNull(Amount)),
  /** The output that every transaction of the transfer spends, on networks without nonces. */
  anchor: Type.Optional(OrNull(Output)),
  /**
   * A final transaction with which the transfer can never be mined. `outputs`: every transaction of the transfer spends the first output,
   * each further one by the transaction that has the one before, and the last by this transaction.
   */
  replacedBy: Type.Optional(
    OrNull(
      Type.Object({
        hash: Visible,
        outputs: Type.Optional(OrNull(Type.Array(Output, { minItems: 1, maxItems: rivalOutputsMax }))),
      }),
    ),
  ),
})
export type TransferStatus = Static<typeof TransferStatus>

/** Each change is checked by itself, so that a wrong change does not stop the others. */
export const Changes = Type.Object({
  changes: Type.Array(Type.Unknown(), { maxItems: walletChangesMax }),
  cursor: Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }),
})

/** Each state is checked by itself, as a change is. */
export const TransferStates = Type.Object({ transfers: Type.Array(Type.Unknown(), { maxItems: walletChangesMax }) })

const AcceptedEntry = Type.Union([
  Type.Object({ kind: Type.Literal('transfer'), id: Visible }),
  Type.Object({ kind: Type.Literal('address'), network: Visible, derivationPath: Text, address: Visible }),
  Type.Object({
    kind: Type.Literal('event'),
    id: Visible,
    network: Visible,
    asset: OrNull(Visible),
    toAddress: Visible,
    txHash: Visible,
    index: Type.Integer({ minimum: 0 }),
    occurrence: Type.Integer({ minimum: 0 }),
    isOrphan: Type.Boolean(),
  }),
  Type.Object({
    kind: Type.Literal('transaction'),
    network: Visible,
    txHash: Visible,
    fromAddress: Visible,
    fee: Amount,
    payments: Type.Array(Type.Object({ toAddress: Visible, contractAddress: OrNull(Visible), amount: Amount }), {
      maxItems: 1_000,
    }),
  }),
])
/**
 * An entry of the list of accepted things of a wallet service: a transfer, an address, or a delivered event. The list also has
 * transactions of the vault that the wallet service has no record of.
 */
export type AcceptedEntry = Static<typeof AcceptedEntry>

export const Accepted = Type.Object({
  entries: Type.Array(AcceptedEntry, { maxItems: walletChangesMax }),
  count: Type.Integer({ minimum: 0 }),
  cursor: Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }),
  database: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' })),
})
export type Accepted = Static<typeof Accepted>

export const ReplayedEvents = Type.Object({ replayed: Type.Integer({ minimum: 0 }) })

const ReplacementCost = Type.Union([
  Type.Object({ refusal: Text, maxFee: Type.Optional(Amount) }),
  Type.Object({ maxFee: Amount }),
])
export const ReplacementQuote = Type.Object({ speedUp: ReplacementCost, cancelOnChain: ReplacementCost })
export type ReplacementQuote = Static<typeof ReplacementQuote>

export const TransactionState = Type.Object({
  hash: Visible,
  status: Type.Union([Type.Literal('pending'), Type.Literal('mined'), Type.Literal('failed')]),
  from: OrNull(Visible),
  nonce: OrNull(Type.Integer({ minimum: 0 })),
  confirmations: Type.Integer({ minimum: 0 }),
  blockTime: OrNull(Instant),
  fee: Type.Optional(OrNull(Amount)),
  payments: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, maximum: txIndexMax }),
      fromAddress: Type.Optional(OrNull(Visible)),
      toAddress: Visible,
      contractAddress: OrNull(Visible),
      amount: Amount,
    }),
    { maxItems: 1_000 },
  ),
  /** The outputs that the transaction spends, on networks without a sender. */
  spent: Type.Optional(
    Type.Array(
      Type.Object({ txHash: Visible, index: Type.Integer({ minimum: 0 }), address: OrNull(Visible), amount: Amount }),
      { maxItems: 1_000 },
    ),
  ),
})
/** A transaction according to the chain (contract 17). */
export type TransactionState = Static<typeof TransactionState>

/**
 * The codes with which a wallet service refuses an authorization. After such a code it never accepts the order
 * (docs/signed-orders.md).
 */
export const authorizationCodes: ReadonlySet<string> = new Set([
  'AUTHORIZATION_MISSING',
  'AUTHORIZATION_MALFORMED',
  'ORDER_DIFFERS',
  'NOT_IN_PAYOUT',
  'ORDER_EXPIRED',
  'AUTHORITY_VERSION_DIFFERS',
  'SIGNATURE_INVALID',
  'SIGNED_IN_FUTURE',
  'EXPIRES_TOO_LATE',
  'KEY_UNKNOWN',
  'NOT_INITIATED',
  'TOKEN_NOT_PERMITTED',
  'VOTES_MISSING',
  'PER_DAY_EXCEEDED',
  'STOPPED',
])

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Votes = Type.Integer({ minimum: 0, maximum: 1_000 })
const Persons = Type.Array(Text, { maxItems: 1_000 })
/** A version of an authority with its content (docs/signed-orders.md). */
const authorityVersion = {
  version: Type.Integer({ minimum: 1 }),
  hash: Hash,
  authority: Type.Object({
    format: Type.Union([Type.Literal('strongroom-authority-1'), Type.Literal('strongroom-authority-2')]),
    vaultId: Text,
    version: Type.Integer({ minimum: 1 }),
    previous: Type.Optional(OrNull(Hash)),
    trustsServicePage: Type.Optional(Type.Boolean()),
    delayHours: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    contacts: Type.Optional(Type.Array(Type.Object({ person: Text, email: Text }), { maxItems: 1_000 })),
    keys: Type.Array(
      Type.Object({
        id: Text,
        person: Text,
        name: Text,
        kind: Type.Union([Type.Literal('passkey'), Type.Literal('service')]),
        publicKey: Type.String({ pattern: '^[A-Za-z0-9_-]{1,4000}$' }),
        rpId: Type.Optional(Type.String({ pattern: '^[a-z0-9.-]{1,253}$' })),
        origins: Type.Optional(Type.Array(Type.String({ pattern: '^[\\x21-\\x7e]{1,600}$' }), { maxItems: 10 })),
      }),
      { maxItems: 1_000 },
    ),
    groups: Type.Array(Type.Object({ id: Text, persons: Persons }), { maxItems: 1_000 }),
    addresses: Type.Array(Type.Object({ network: Text, address: Visible }), { maxItems: 10_000 }),
    change: Type.Object({ group: Text, votes: Votes }),
    rules: Type.Array(
      Type.Object({
        network: Text,
        contractAddress: OrNull(Visible),
        symbol: Type.Optional(Visible),
        decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 36 })),
        initiators: Text,
        perDay: OrNull(Amount),
        floors: Type.Array(
          Type.Object({
            above: Amount,
            to: Type.Union([Type.Literal('any'), Type.Literal('unlisted')]),
            group: Text,
            votes: Votes,
          }),
          { maxItems: 1_000 },
        ),
      }),
      { maxItems: 1_000 },
    ),
  }),
}

/** The version in force and the signed version that waits. An older wallet service does not send `pending`. */
export const AuthorityDocument = Type.Object({
  ...authorityVersion,
  pending: Type.Optional(
    OrNull(Type.Object({ ...authorityVersion, inForceAt: Instant, signedBy: Type.Optional(Persons) })),
  ),
})
export type AuthorityDocument = Static<typeof AuthorityDocument>

export const Balance = Type.Object({ balance: Amount })
export const FeeEstimate = Type.Object({ fee: Amount })
export const Refusal = Type.Object({ message: Text, details: Type.Optional(Type.Unknown()) })

export type Check<T> = (value: unknown) => value is T

const ajv = new Ajv({ strict: false })

/** Returns the compiled check of a schema. It is compiled at its first use, because most processes receive few types of answers. */
function checkOf<const S extends TSchema>(schema: S): Check<Static<S>> {
  let validate: ValidateFunction | undefined
  return (value): value is Static<S> => {
    validate ??= ajv.compile(schema)
    return validate(value)
  }
}

export const checks = {
  derivedAddress: checkOf(DerivedAddress),
  authorityDocument: checkOf(AuthorityDocument),
  shownAccountKey: checkOf(ShownAccountKey),
  transferStatus: checkOf(TransferStatus),
  changes: checkOf(Changes),
  transferStates: checkOf(TransferStates),
  accepted: checkOf(Accepted),
  replayedEvents: checkOf(ReplayedEvents),
  replacementQuote: checkOf(ReplacementQuote),
  transactionState: checkOf(TransactionState),
  balance: checkOf(Balance),
  feeEstimate: checkOf(FeeEstimate),
  refusal: checkOf(Refusal),
}
