import { type Static, Type } from 'typebox'
import {
  Closed,
  DecimalAmount,
  described,
  Enum,
  GivenId,
  Id,
  Nullable,
  optional,
  Profile,
  pageQuery,
  RawAmount,
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import {
  addressLengthMax,
  externalIdLengthMax,
  nameLengthMax,
  noteLengthMax,
  rowsPerPayoutMax,
} from '../../../lib/limits.ts'
import { operationStatuses } from '../../../lib/operations.ts'
import { PolicyTrace } from '../../rules/decisions/schema.ts'
import { SignedVote, Vote } from '../../rules/signatures/schema.ts'
import { PayloadHash } from '../../rules/votes/schema.ts'
import { TransferPayload } from '../orders/payload.ts'
import { TransferPreview } from '../orders/schema.ts'
import { decidedFields, decisionPolicyFields, TxIndex, votesFields } from '../transfers/schema.ts'

export const payoutStatuses = ['awaiting_approval', 'approved', 'rejected', 'cancelled', 'expired', 'halted'] as const

/**
 * A payout waits for votes or was decided; after that each transfer has its own status. A payout that differs from its audit
 * record is halted for good.
 */
export type PayoutStatus = (typeof payoutStatuses)[number]

const Text = (example: string) => Type.String({ examples: [example] })
const LongText = (example: string) => Type.String({ maxLength: noteLengthMax, examples: [example] })
const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Accepts rows that are checked one by one later, so that all faulty rows are named instead of only the first. */
export const RowOrder = Closed({
  externalId: Type.String({
    minLength: 1,
    maxLength: externalIdLengthMax,
    pattern: '\\S',
    description: 'The id of the payment in your own books. A vault takes each id once, for good.',
    examples: ['salary-2026-01-17'],
  }),
  fromAddressId: described(GivenId, 'Identifier of the address of the vault that pays.'),
  toAddress: described(
    Type.String({ minLength: 1, maxLength: addressLengthMax, examples: [evmAddress] }),
    'On-chain address of the recipient.',
  ),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Token code; the primary token of the address when neither code nor id is given.',
      examples: ['USDT'],
    }),
  ),
  tokenId: optional(GivenId, 'Identifier of the token, instead of its code.'),
  amount: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'In token units, as a decimal string; never more fraction digits than the token has decimals.',
    examples: ['1.5'],
  }),
  counterpartyId: optional(
    GivenId,
    'The intended recipient: refused if `toAddress` is not an address of this counterparty.',
  ),
  paymentPurpose: optional(LongText('Salary January 2026'), 'Purpose of this payment, instead of that of the payout.'),
  note: optional(LongText('Agreed with the supplier'), 'Note to record with the transfer.'),
})

export const PayoutOrder = Closed(
  {
    name: optional(
      Type.String({ minLength: 1, maxLength: nameLengthMax, pattern: '\\S', examples: ['Salaries January'] }),
      'Name of the list.',
    ),
    paymentPurpose: optional(LongText('Salary January 2026'), 'Purpose of every row without a purpose of its own.'),
    rows: Type.Array(RowOrder, {
      minItems: 1,
      maxItems: rowsPerPayoutMax,
      description: 'The payments, in their order.',
    }),
    replaces: Type.Optional(
      Closed(
        {
          payoutId: described(GivenId, 'A payout of the caller that waits for votes.'),
          signature: optional(
            Ref(SignedVote),
            'Signature that ends the votes on that payout at the wallet service, as the `signature` of `cancelPayout` does.',
          ),
        },
        {
          description:
            'The payout to replace, without some of its rows: `rows` holds the other rows, unchanged. The replaced payout ' +
            'is cancelled, and its votes do not count for the new payout.',
        },
      ),
    ),
    signed: Type.Optional(
      Closed(
        {
          payoutId: described(Id, 'The value in `toSign` of the preview.'),
          expiresAt: described(Timestamp, 'The value in the orders of the preview.'),
          rulesVersion: Type.Integer({
            minimum: 0,
            description: 'The value in the orders of the preview.',
            examples: [7],
          }),
          vote: Ref(SignedVote),
        },
        { description: 'Document that the initiator signed, as in the preview; in a protected vault.' },
      ),
    ),
  },
  {
    $id: 'PayoutOrder',
    description: 'Payments that are decided and voted on as one.',
    examples: [
      {
        name: 'Salaries January',
        rows: [
          {
            externalId: 'salary-2026-01-17',
            fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
            toAddress: evmAddress,
            token: 'USDT',
            amount: '1.5',
            paymentPurpose: 'Salary January 2026',
          },
        ],
      },
    ],
  },
)

const PayoutSum = Closed(
  {
    tokenId: Id,
    asset: Text('USDT'),
    network: Text('ethereum'),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    rowsCount: Type.Integer({ minimum: 1, description: 'Number of rows that pay in this token.', examples: [300] }),
    usdValue: described(Nullable(Text('1.50')), 'At the rate of the time of the order; null if none was fresh enough.'),
  },
  { $id: 'PayoutSum', description: 'The payments of a payout in one token.' },
)

const counts = Object.fromEntries(
  operationStatuses.map((status) => [
    status,
    Type.Integer({ minimum: 0, description: `Transfers that are \`${status}\`.`, examples: [0] }),
  ]),
) as Record<(typeof operationStatuses)[number], ReturnType<typeof Type.Integer>>

export const LeftOutRow = Closed({
  row: Type.Integer({ minimum: 1, description: 'Number of the row in the replaced payout, from 1.', examples: [3] }),
  externalId: described(Text('salary-2026-01-17'), 'External identifier of the row in the replaced payout.'),
  toAddress: Text(evmAddress),
  tokenId: Id,
  asset: Text('USDT'),
  amount: RawAmount,
  amountDecimal: DecimalAmount,
})

export const Replaces = Closed(
  {
    payoutId: described(Id, 'Identifier of the replaced payout, which is cancelled.'),
    leftOut: described(Type.Array(LeftOutRow), 'Rows of the replaced payout that are not paid, in their order.'),
  },
  { $id: 'Replaces', description: 'The replaced payout, with the rows that were left out.' },
)

export const Payout = Closed(
  {
    id: Id,
    vaultId: Id,
    name: described(Nullable(Text('Salaries January')), 'Name of the list; null for none.'),
    paymentPurpose: Nullable(Text('Salary January 2026')),
    status: described(
      Enum(payoutStatuses),
      '`awaiting_approval`, or the decision. `approved`: each of its transfers continues by itself. `halted`: the payout ' +
        'differs from its audit record, and its funds stay reserved.',
    ),
    initiatorId: Id,
    initiator: Ref(Profile),
    rowsCount: Type.Integer({
      minimum: 1,
      maximum: rowsPerPayoutMax,
      description: 'Number of its transfers.',
      examples: [300],
    }),
    sums: described(Type.Array(Ref(PayoutSum)), 'Sums, per token.'),
    transfers: optional(Closed(counts), 'Number of its transfers by status; only in the answer about a single payout.'),
    payloadHash: described(
      PayloadHash,
      'SHA-256 (hex) of the canonical JSON `{payoutId, vaultId, initiatorId, rows: [{externalId, transferId, ' +
        'payloadHash}]}`, to which votes are bound; in a protected vault, of the signed document (docs/signed-orders.md).',
    ),
    ...decisionPolicyFields,
    ...votesFields,
    replaces: described(
      Nullable(Ref(Replaces)),
      'The payout that it replaced, without some of its rows; null if it replaced none.',
    ),
    replacedBy: described(Nullable(Id), 'Identifier of the payout that replaced it; null if none did.'),
    haltReason: described(
      Nullable(Text('The payout differs from its audit records: its payload was changed')),
      'Why it is halted; null if it is not.',
    ),
    expiresAt: described(Nullable(Timestamp), 'Instant at which the time to vote ends; null if no votes are needed.'),
    resolvedAt: described(Nullable(Timestamp), 'Instant of the decision, in UTC; null before.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Payout', description: 'Transfers that were ordered, decided and voted on as one.' },
)

export const PayoutRow = Closed(
  {
    row: Type.Integer({ minimum: 1, description: 'Number of the row, from 1.', examples: [1] }),
    externalId: described(Text('salary-2026-01-17'), 'The id that the initiator gave the row.'),
    transferId: described(Id, 'Identifier of the transfer that the row became.'),
    status: described(Enum(operationStatuses), 'Status of the transfer.'),
    fromAddressId: described(Id, 'Identifier of the address of the vault that pays.'),
    fromAddress: described(Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'), 'Address of the vault that pays.'),
    toAddress: Text(evmAddress),
    counterpartyName: described(
      Nullable(Text('Ann Example')),
      'Name of the recipient at the time of the order; null if unknown.',
    ),
    network: Text('ethereum'),
    tokenId: Id,
    asset: Text('USDT'),
    amount: RawAmount,
    amountDecimal: DecimalAmount,
    usdValue: Nullable(Text('1.50')),
    paymentPurpose: Nullable(Text('Salary January 2026')),
    note: Nullable(Text('Agreed with the supplier')),
    payload: Ref(TransferPayload),
    payloadHash: described(PayloadHash, 'SHA-256 (hex) of `payload`, the order of the transfer.'),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    txIndex: TxIndex,
    failureReason: Nullable(Text('WALLET_REFUSED: no gas')),
    haltReason: described(
      Nullable(Text('The wallet service reports another amount')),
      'Why the transfer is halted or held back; null if it is not.',
    ),
    ...decidedFields,
  },
  { $id: 'PayoutRow', description: 'A row of a payout, with the state of its transfer.' },
)

const PayoutProblem = Closed({
  code: Type.String({
    description: 'The `reason` of the error with which the payout would be refused.',
    examples: ['insufficient_funds'],
  }),
  row: described(
    Nullable(Type.Integer({ minimum: 1, examples: [17] })),
    'Number of the row with the problem; null for the whole payout.',
  ),
  message: Type.String({
    description: 'The problem in a sentence.',
    examples: ['The address has less USDT available'],
  }),
})

export const PayoutPreview = Closed(
  {
    decision: described(
      TransferPreview.properties.decision,
      'Decision that the policies would make on the whole payout.',
    ),
    view: described(
      Enum(['alone', 'together', 'source', 'token']),
      'View of the deciding row. `alone`: by itself. `together`: with the other rows in its velocity. `source`: with the sum ' +
        'of the rows of its source and token as its amount. `token`: with the sum of the rows of its token as its amount.',
    ),
    row: Type.Integer({ minimum: 1, description: 'The row that decided.', examples: [1] }),
    trace: described(Type.Array(Ref(PolicyTrace)), 'Trace of the policies for that row.'),
    rowsCount: Type.Integer({ minimum: 1, description: 'Number of transfers that it would have.', examples: [300] }),
    sums: described(Type.Array(Ref(PayoutSum)), 'Sums that it would pay, per token.'),
    problems: Type.Array(PayoutProblem, {
      description: 'Present objections to the payout; the first hundred. Empty if there are none.',
    }),
    toSign: Type.Optional(
      Closed(
        {
          payoutId: described(Id, 'Identifier that the payout will have.'),
          orders: described(Type.Array(Ref(TransferPayload)), 'The orders of the rows, in their order.'),
          vote: described(Ref(Vote), 'The vote of the initiator for them.'),
        },
        { description: 'Document for the initiator to sign (docs/signed-orders.md), in a protected vault.' },
      ),
    ),
  },
  { $id: 'PayoutPreview', description: 'The outcome that a payout would have now; nothing is changed.' },
)

export const PayoutQuery = Closed({
  status: optional(Enum(payoutStatuses), 'Restricts the list to payouts of this status.'),
  awaitingMyApproval: Type.Optional(
    Type.Boolean({ description: 'true: only payouts that wait for the vote of the caller.', examples: [false] }),
  ),
  ...pageQuery,
})

export const PayoutRowQuery = Closed({
  status: optional(Enum(operationStatuses), 'Restricts the list to rows of this status.'),
  ...pageQuery,
})

export const payoutComponents = [PayoutOrder, PayoutSum, Replaces, Payout, PayoutRow, PayoutPreview]

export type PayoutBody = Static<typeof PayoutOrder>
export type RowBody = PayoutBody['rows'][number]
