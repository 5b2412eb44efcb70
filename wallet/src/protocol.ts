// tidy: long because it is the list of the messages.
import Type, { type Static } from 'typebox'
import { Authority, Authority1 } from './authority/documents.ts'
import {
  networkNameLengthMax,
  pathIndexMax,
  pathLengthMax,
  rivalOutputsMax,
  spentOutputsMax,
  transferIdLengthMax,
} from './limits.ts'

/**
 * The messages of the wallet protocol. One schema validates, serialises and documents each message.
 */

const strict = { additionalProperties: false }

export const Network = Type.String({
  minLength: 1,
  maxLength: networkNameLengthMax,
  description: 'Slug of the network, as both sides have configured it.',
  examples: ['ethereum'],
})
const CoinType = Type.Integer({
  minimum: 0,
  maximum: pathIndexMax,
  description: 'Coin type after SLIP-44: 60 for Ethereum, 0 for Bitcoin, 2 for Litecoin.',
  examples: [60],
})
export const DerivationPath = Type.String({
  maxLength: pathLengthMax,
  description:
    "m/44/<coinType>/<n>/<n>… without hardening marks; read as m/44'/<coinType>'/<n>'/<n>…, on Bitcoin and Litecoin as " +
    "m/84'/<coinType>'/<n>'/<n>….",
  examples: ['m/44/60/0/0/0'],
})
/** Visible characters. The family of the network decides the form of an address, a contract or a hash. */
const visiblePattern = '^[!-~]{1,128}$'
export const Address = Type.String({
  pattern: visiblePattern,
  description:
    'Address in the form of its network: EIP-55 on EVM networks, where lower case is accepted; of the main network on Bitcoin and ' +
    'Litecoin. A wrong checksum is refused.',
  examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
})
const Payer = Type.Union([Address, Type.Null()], {
  description: 'Address that paid; null when several addresses paid, or a script without an address.',
})
export const ContractAddress = Type.Union([Address, Type.Null()], {
  description:
    'Contract of the token, or null for the coin of the network, which is the only value on Bitcoin and Litecoin.',
})
export const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description: 'Amount in the smallest unit of the token, as digits.',
  examples: ['1500000'],
})
export const TransferId = Type.String({
  minLength: 1,
  maxLength: transferIdLengthMax,
  pattern: '^[A-Za-z0-9._:-]+$',
  description: 'Id that the caller chose for the transfer; it makes the order idempotent.',
  examples: ['cmf0000000000000000000000'],
})

const FeeLevel = Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')], {
  description: 'Urgency of the transaction; medium if left out.',
  examples: ['medium'],
})
export type FeeLevel = Static<typeof FeeLevel>
const MaxFee = Type.String({
  pattern: '^[1-9][0-9]{0,77}$',
  description: 'The most that may be paid in fees, in the smallest unit of the network’s coin, as digits.',
  examples: ['4200000000000000'],
})
export const TxHash = Type.String({
  pattern: visiblePattern,
  description: 'Hash of a transaction in the form of its network: 64 hex digits, on EVM networks behind 0x.',
  examples: ['0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'],
})

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'Name of the HTTP status.', examples: ['Bad Request'] }),
    message: Type.String(),
    code: Type.Integer({ description: 'The HTTP status.', examples: [400] }),
    details: Type.Optional(
      Type.Union([Type.Array(Type.Object({ field: Type.String(), message: Type.String() }, strict)), Type.String()], {
        description: 'A list of fields on 400, a sentence on 403, 409 and 410.',
      }),
    ),
    requestId: Type.Optional(Type.String({ description: 'Present on 500.' })),
  },
  { ...strict, title: 'Error' },
)

export const AddressOrder = Type.Object(
  { network: Network, coinType: CoinType, derivationPath: DerivationPath },
  { ...strict, title: 'AddressOrder' },
)
export const DerivedAddress = Type.Object({ address: Address }, { ...strict, title: 'DerivedAddress' })

export const TransferOrder = Type.Object(
  {
    id: TransferId,
    network: Network,
    coinType: CoinType,
    derivationPath: DerivationPath,
    fromAddress: Address,
    toAddress: Address,
    contractAddress: ContractAddress,
    amount: Amount,
    feeLevel: Type.Optional(FeeLevel),
    maxFee: Type.Optional(MaxFee),
    // The authority parses it, so that a document that cannot be read is refused with a code.
    authorization: Type.Optional(
      Type.Unknown({
        description:
          'In a protected vault: the order that people signed, the version of the authority, the signed votes, and for a row of a ' +
          'payout its place in the signed payout. docs/signed-orders.md describes these.',
      }),
    ),
  },
  { ...strict, title: 'TransferOrder' },
)
export type TransferOrder = Static<typeof TransferOrder>

const OutputIndex = Type.Integer({ minimum: 0, description: 'Position among the outputs of the transaction.' })

export const TransferStatus = Type.Object(
  {
    id: TransferId,
    status: Type.Union(
      [Type.Literal('queued'), Type.Literal('broadcast'), Type.Literal('confirmed'), Type.Literal('failed')],
      { description: 'queued → broadcast → confirmed or failed; confirmed and failed are final.' },
    ),
    txHash: Type.Union([Type.String(), Type.Null()], {
      description:
        'Hash of the transaction; known as soon as the transaction is signed and stored, which is before it is broadcast. A ' +
        'replacement changes it.',
    }),
    txHashes: Type.Array(Type.String(), {
      description: 'Hashes of all transactions that were signed for the transfer, oldest first; at most one is mined.',
    }),
    index: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
        description:
          'On networks with outputs: position of the output that pays the recipient; null for a cancellation, which pays nobody. ' +
          'Left out until the transfer is signed.',
      }),
    ),
    anchor: Type.Optional(
      Type.Object(
        { txHash: TxHash, index: OutputIndex },
        {
          ...strict,
          description:
            'On networks with outputs: the output that every transaction of the transfer spends, so that at most one of them is ' +
            'mined. Left out until the transfer is signed.',
        },
      ),
    ),
    waitsFor: Type.Union([TransferId, Type.Null()], {
      description:
        'The transfer of the same address whose transaction must be mined first; null when no transfer must.',
    }),
    fee: Type.Union([Amount, Type.Null()], {
      description:
        'Everything that left the payer in addition to the amount, in the smallest unit of the coin of the network; null until ' +
        'the transaction is in a block.',
    }),
    feePaidBy: Type.Union([Address, Type.Null()], {
      description: 'Address that paid the fee; null until the fee is known.',
    }),
    confirmations: Type.Integer({
      minimum: 0,
      description: 'Depth of the block, 1 when it is the newest one; 0 without a block.',
    }),
    blockTime: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    failureReason: Type.Union([Type.String(), Type.Null()], {
      description: 'On failed: a code in capitals, then a colon and a sentence.',
      examples: ['INSUFFICIENT_FUNDS: the balance does not cover amount and fee'],
    }),
    waitingReason: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'While the transfer is queued: the reason why the last attempt to sign or send it failed; null before the first attempt.',
        examples: ['UNKNOWN_TRANSACTIONS: the chain has transactions of the address that this service does not know'],
      }),
    ),
    network: Network,
    fromAddress: Address,
    toAddress: Address,
    contractAddress: ContractAddress,
    amount: Amount,
    replacedBy: Type.Optional(
      Type.Object(
        {
          hash: TxHash,
          outputs: Type.Optional(
            Type.Array(Type.Object({ txHash: TxHash, index: OutputIndex }, strict), {
              minItems: 1,
              maxItems: rivalOutputsMax,
              description:
                'On networks with outputs: every transaction of the transfer spends the first output, the transaction that created ' +
                'an output spends the next output, and the transaction `hash` spends the last output.',
            }),
          ),
        },
        {
          ...strict,
          description:
            'Present when the transfer can never be mined, because another final transaction used its nonce, spent an ' +
            'output that it needs, or took the place of a transaction whose output it needs.',
        },
      ),
    ),
  },
  { ...strict, title: 'TransferStatus' },
)
export type TransferStatus = Static<typeof TransferStatus>

export const TransferParams = Type.Object({ id: TransferId }, strict)

export const Replacement = Type.Object(
  {
    txHash: Type.Union([TxHash, Type.Null()], {
      description:
        'The newest transaction of the transfer, which is to be replaced; null when the transfer has no transaction yet. If the ' +
        'newest transaction is another one, nothing is signed, and the answer is the state of the transfer.',
    }),
    maxFee: Type.Optional(MaxFee),
  },
  { ...strict, title: 'Replacement' },
)
export type Replacement = Static<typeof Replacement>

const ReplacementCost = Type.Union(
  [
    Type.Object(
      {
        maxFee: Type.String({
          pattern: '^[0-9]+$',
          description: 'The most that the transaction could cost, in the smallest unit of the network’s coin.',
          examples: ['47250000000000'],
        }),
      },
      strict,
    ),
    Type.Object(
      {
        refusal: Type.String({
          description: 'Reason for which the answer would be a 409: a code in capitals, then a colon and a sentence.',
          examples: ['ABOVE_MAX_FEE: the order permits less than a replacement must pay'],
        }),
        maxFee: Type.Optional(
          Type.String({
            pattern: '^[0-9]+$',
            description: 'With ABOVE_MAX_FEE: the highest cost of the replacement if the limit permitted it.',
            examples: ['47250000000000'],
          }),
        ),
      },
      strict,
    ),
  ],
  { description: 'Present cost of a replacement, or the reason why it is impossible.' },
)

export const ReplacementQuote = Type.Object(
  {
    txHash: Type.Union([TxHash, Type.Null()], { description: 'The transaction that would be replaced.' }),
    speedUp: ReplacementCost,
    cancelOnChain: ReplacementCost,
  },
  { ...strict, title: 'ReplacementQuote' },
)
export type ReplacementQuote = Static<typeof ReplacementQuote>
export const TransactionParams = Type.Object({ hash: TxHash }, strict)
export const TransactionQuery = Type.Object({ network: Network }, strict)
export const TransactionState = Type.Object(
  {
    hash: TxHash,
    status: Type.Union([Type.Literal('pending'), Type.Literal('mined'), Type.Literal('failed')], {
      description:
        'mined and failed (reverted) at the depth at which this service reports a transfer as final; pending before.',
    }),
    from: Type.Union([Address, Type.Null()], {
      description: 'Sender of the transaction; null on networks whose transactions have none.',
    }),
    nonce: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Nonce of the sender; null on networks without nonces.',
    }),
    confirmations: Type.Integer({
      minimum: 0,
      description: 'Depth of the block, 1 when it is the newest one; 0 without a block.',
    }),
    blockTime: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    fee: Type.Union([Amount, Type.Null()], {
      description: 'Fee that the network took from the sender, in the smallest unit of its coin; null without a block.',
    }),
    payments: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0, description: 'Index of the payment, as in the webhook.' }),
          fromAddress: Payer,
          toAddress: Address,
          contractAddress: ContractAddress,
          amount: Amount,
        },
        strict,
      ),
      { description: 'Payments of the transaction; empty without a block, or when it reverted.' },
    ),
    spent: Type.Optional(
      Type.Array(
        Type.Object(
          {
            txHash: TxHash,
            index: OutputIndex,
            address: Type.Union([Address, Type.Null()], {
              description: 'Address that owned the output; null for a script without an address.',
            }),
            amount: Amount,
          },
          strict,
        ),
        {
          maxItems: spentOutputsMax,
          description:
            'On networks with outputs: the outputs that the transaction spends; left out when there are more than ' +
            `${spentOutputsMax}, or none.`,
        },
      ),
    ),
  },
  { ...strict, title: 'TransactionState' },
)
export type TransactionState = Static<typeof TransactionState>

export const AuthorityUpdate = Type.Object(
  {
    authority: Type.Unknown({ description: 'The next version, in the form of GET /authority.' }),
    votes: Type.Unknown({ description: 'Signed votes on the next version (docs/signed-orders.md).' }),
  },
  { ...strict, title: 'AuthorityUpdate' },
)
export const AuthorityCancellation = Type.Object(
  { votes: Type.Unknown({ description: 'Signed votes `reject` on the waiting version (docs/signed-orders.md).' }) },
  { ...strict, title: 'AuthorityCancellation' },
)
const versionParts = {
  authority: Type.Union([Authority, Authority1]),
  version: Type.Integer({ minimum: 1, examples: [1] }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the authority: its fingerprint.' }),
}
const pendingParts = { inForceAt: Type.String({ format: 'date-time' }), signedBy: Type.Array(Type.String()) }
export const PresentAuthority = Type.Object(
  {
    ...versionParts,
    pending: Type.Union([Type.Object({ ...versionParts, ...pendingParts }, strict), Type.Null()], {
      description: 'The version that was signed and comes into force at `inForceAt`, unless it is cancelled.',
    }),
    warning: Type.Optional(
      Type.String({ description: 'Reason why the wallet service cannot notify the contacts of the waiting version.' }),
    ),
  },
  { ...strict, title: 'PresentAuthority' },
)

export const BalanceQuery = Type.Object(
  {
    network: Network,
    address: Address,
    contract: Type.Optional(
      Type.String({
        pattern: '^[!-~]{0,128}$',
        description: 'Contract of the token; empty or absent for the coin of the network.',
      }),
    ),
  },
  strict,
)
export const Balance = Type.Object(
  {
    balance: Amount,
    blockNumber: Type.Integer({ minimum: 0, description: 'Block at which the balance was read.' }),
  },
  { ...strict, title: 'Balance' },
)

export const FeeQuestion = Type.Object(
  {
    network: Network,
    fromAddress: Address,
    toAddress: Address,
    contractAddress: ContractAddress,
    amount: Amount,
    feeLevel: Type.Optional(FeeLevel),
  },
  { ...strict, title: 'FeeQuestion' },
)
export const FeeEstimate = Type.Object(
  {
    fee: Type.String({ pattern: '^[0-9]+$', description: 'Expected fee in the smallest unit of the network’s coin.' }),
    maxFee: Type.String({
      pattern: '^[0-9]+$',
      description: 'The most that a transaction of this level would be signed to pay now.',
    }),
    asset: Type.Literal('native'),
  },
  { ...strict, title: 'FeeEstimate' },
)

const NetworkFeatures = Type.Object(
  {
    derives: Type.Boolean({ description: 'GET /xpub shows keys from which addresses follow.' }),
    signsAddresses: Type.Boolean({ description: 'POST /addresses proves addresses with a signature.' }),
    replacement: Type.Union([Type.Literal('fee'), Type.Literal('child'), Type.Literal('none')], {
      description: 'A waiting transaction is sped up by a transaction with a higher fee, by its child, or not at all.',
    }),
    feePayer: Type.Boolean({ description: 'Another address of the client can pay the fee.' }),
    shared: Type.Boolean({ description: 'Transfers can share a transaction.' }),
  },
  strict,
)
const NetworkType = Type.Union([Type.Literal('evm'), Type.Literal('bitcoin'), Type.Literal('litecoin')], {
  description: 'Family of the network, which decides the form of its addresses and hashes.',
})
/** The part of the health of a network that is about its kind. */
export type NetworkKind = { type: Static<typeof NetworkType>; features: Static<typeof NetworkFeatures> }

export const Health = Type.Object(
  {
    status: Type.Literal('ok'),
    networks: Type.Array(
      Type.Object(
        {
          network: Network,
          type: NetworkType,
          features: NetworkFeatures,
          reachable: Type.Boolean({ description: 'True if the last pass of the watcher reached the node.' }),
          headBlock: Type.Union([Type.Integer(), Type.Null()]),
          nextBlock: Type.Union([Type.Integer(), Type.Null()], {
            description: 'First block that the watcher has not read yet.',
          }),
        },
        strict,
      ),
    ),
  },
  { ...strict, title: 'Health' },
)

const depositTransaction = {
  network: Network,
  asset: ContractAddress,
  amount: Type.String({
    pattern: '^[0-9]+(\\.[0-9]+)?$',
    description: 'Amount in token units, as a plain decimal.',
    examples: ['1.5'],
  }),
  toAddress: Address,
  txHash: TxHash,
  index: Type.Integer({
    minimum: 0,
    description:
      'On EVM networks: position among the Transfer logs of the transaction, or 0 for the coin. On networks with outputs: position ' +
      'of the output.',
  }),
  fromAddress: Payer,
  blockTime: Type.String({ format: 'date-time' }),
}
const occurrence = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: 'Number of times that the deposit had been reported as orphaned before this event; 0 if left out.',
  }),
)
const DepositTransaction = Type.Object(depositTransaction, strict)
/** The transaction in both deposit events. */
export type DepositTransaction = Static<typeof DepositTransaction>

/** The event that the wallet service posts to Strongroom when a deposit is final, and again when it is final after it was orphaned. */
export const TopUpEvent = Type.Object(
  {
    kind: Type.Literal('TOPUP'),
    id: Type.String({ description: 'Same for every delivery of the same event.' }),
    tx: Type.Object({ ...depositTransaction, occurrence, confirmations: Type.Integer({ minimum: 1 }) }, strict),
  },
  { ...strict, title: 'TopUpEvent' },
)

/** The event that the wallet service posts when the chain has lost a deposit that it reported. */
export const DepositOrphanedEvent = Type.Object(
  {
    kind: Type.Literal('DEPOSIT_ORPHANED'),
    id: Type.String({ description: 'Same for every delivery of the same event.' }),
    tx: Type.Object({ ...depositTransaction, occurrence }, strict),
  },
  { ...strict, title: 'DepositOrphanedEvent' },
)

export const DepositEvent = Type.Union([TopUpEvent, DepositOrphanedEvent])
export type DepositEvent = Static<typeof DepositEvent>
