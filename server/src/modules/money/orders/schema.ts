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
  RawAmount,
  Ref,
  Tags,
  Timestamp,
} from '../../../http/schema.ts'
import { feeLevels } from '../../../lib/fee-levels.ts'
import { addressLengthMax, noteLengthMax, shownVotersMax } from '../../../lib/limits.ts'
import { GroupThresholds, PolicyTrace } from '../../rules/decisions/schema.ts'
import { SignedVote, Vote } from '../../rules/signatures/schema.ts'
import { type ProblemCode, problemCodes } from '../orders/objections.ts'
import { TransferPayload } from './payload.ts'

const Text = (example: string) => Type.String({ examples: [example] })
const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const orderFields = {
  fromAddressId: described(GivenId, 'Identifier of the address of the vault that pays.'),
  toAddress: described(
    Type.String({ minLength: 1, maxLength: addressLengthMax, examples: [evmAddress] }),
    'On-chain address of the recipient.',
  ),
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
  tokenId: optional(Type.String({ minLength: 1, maxLength: 128 }), 'Identifier of the token, instead of its code.'),
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
  feeLevel: optional(Enum(feeLevels), 'Urgency of the transaction; `medium` if left out.'),
  maxFee: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,77}$',
      description:
        'The most that may be paid in network fees, in the smallest unit of the coin of the network. The wallet service ' +
        'signs nothing above it: the transfer waits until the fee falls.',
      examples: ['4200000000000000'],
    }),
  ),
  metadata: optional(
    Closed({
      category: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description:
              'Key of a category that needs neither values nor approval. The policies see it, and it is assigned with the ' +
              'transfer.',
            examples: ['payroll'],
          }),
        ),
      ),
      tags: Type.Optional(Tags),
      paymentPurpose: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Invoice 4711'] }))),
      note: Type.Optional(Nullable(Type.String({ maxLength: noteLengthMax, examples: ['Agreed with the supplier'] }))),
    }),
    'Category, tags, purpose and note to record with the transfer.',
  ),
}
/** The body of a simulated order, which carries no signature. */
export const UnsignedOrder = Closed(orderFields)

const SignedOrder = Closed(
  {
    transferId: described(Id, 'The value in the `order` of the preview.'),
    expiresAt: described(Timestamp, 'The value in the `order` of the preview.'),
    rulesVersion: Type.Integer({ minimum: 0, description: 'The value in the `order` of the preview.', examples: [7] }),
    vote: Ref(SignedVote),
  },
  { description: 'Document that the initiator signed, as in the preview; in a protected vault.' },
)

export const TransferOrder = Closed(
  { ...orderFields, signed: Type.Optional(SignedOrder) },
  {
    $id: 'TransferOrder',
    description: 'A payment order: source address, recipient, token and amount.',
    examples: [
      {
        fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
        toAddress: evmAddress,
        token: 'USDT',
        amount: '1.5',
        metadata: { category: 'payroll', tags: ['march'], paymentPurpose: 'Invoice 4711' },
      },
    ],
  },
)

const AssetCode = Type.String({ description: 'Code of the token.', examples: ['ETH'] })
const AssetAmount = (description: string) =>
  Nullable(Closed({ amount: RawAmount, amountDecimal: DecimalAmount, asset: AssetCode }, { description }))

const PreviewedRequirement = Closed({
  policyId: Id,
  policyCode: Text('large-transfers'),
  threshold: Type.Integer({ examples: [2] }),
  bypassed: Type.Boolean(),
  groups: GroupThresholds,
  approversCount: Type.Integer({
    minimum: 0,
    description:
      'Number of people and services who could vote now. It includes the caller only if the policy lets initiators vote.',
    examples: [3],
  }),
  approvers: Type.Array(Ref(Profile), {
    maxItems: shownVotersMax,
    description: `Profiles of the voters, by name; the first ${shownVotersMax}. Empty for a waived requirement.`,
  }),
})

const PreviewProblem = Closed({
  code: Type.Unsafe<ProblemCode>(
    Type.String({
      enum: [...problemCodes],
      description: 'Of a problem that blocks, the `reason` of the error with which the order would be refused.',
      examples: ['insufficient_funds'],
    }),
  ),
  message: Type.String({
    description: 'The problem in a sentence, to be read by people.',
    examples: ['The address has less USDT available than the transfer needs'],
  }),
  blocks: Type.Boolean({
    description: 'true: the order would be refused. false: it would be accepted, and probably fail or wait afterwards.',
    examples: [true],
  }),
})

export const TransferPreview = Closed(
  {
    decision: Closed({
      effect: described(
        Enum(['allow', 'block', 'approval', 'deny']),
        'Decision that the policies would make; `deny` if no policy permits the transfer.',
      ),
      blockReason: described(
        Nullable(Text('Transfers are closed at weekends')),
        'The message of the policy that blocks; null if no policy blocks.',
      ),
      decisionPolicy: Nullable(Closed({ id: Id, code: Text('large-transfers'), name: Text('Large transfers') })),
      requirements: described(
        Type.Array(PreviewedRequirement),
        'The votes that would be needed, per policy. All must be reached.',
      ),
    }),
    trace: Type.Array(Ref(PolicyTrace)),
    problems: Type.Array(PreviewProblem, {
      description: 'Present objections to the order, first those that would refuse it. Empty if there are none.',
    }),
    fee: AssetAmount('Estimate; null when the wallet service has none right now.'),
    feeLevel: described(Enum(feeLevels), 'Urgency of the transaction: the level of the order, or `medium`.'),
    maxFee: AssetAmount('The most that may be paid in fees; null when the order sets no limit.'),
    available: RawAmount,
    availableDecimal: DecimalAmount,
    remaining: Closed(
      {
        token: AssetAmount('Balance of the token after the order, before the fee; null when too little is available.'),
        nativeCoin: AssetAmount(
          'Balance of the coin in which fees are paid, after the order and the estimated fee; null when there is no estimate or ' +
            'too little is available.',
        ),
      },
      { description: 'Available balance of the source address after the transfer.' },
    ),
    usdValue: Nullable(
      Type.String({
        description: 'USD value of the amount, at the present rate; null, never `0.00`, when no rate is fresh enough.',
        examples: ['1.50'],
      }),
    ),
    isFirstPayment: Type.Boolean({
      description:
        'true: no confirmed transfer to `toAddress` was paid from an address of the caller or ordered by the caller; for an ' +
        'administrator: no confirmed transfer of any member of the vault went there. Payments that the caller may not see do ' +
        'not count.',
      examples: [false],
    }),
    order: optional(Ref(TransferPayload), 'The order that the initiator signs; in a protected vault.'),
    vote: optional(Ref(Vote), 'The vote for this `order` that the initiator signs; in a protected vault.'),
    warnings: Type.Array(Enum(['look_alike']), {
      description:
        '`look_alike`: `toAddress` begins and ends like an address that the caller knows, and is a different one.',
    }),
  },
  { $id: 'TransferPreview', description: 'The outcome that an order would have now; nothing is changed.' },
)

/** The body of an order. */
export type OrderBody = Static<typeof TransferOrder>

export const orderComponents = [TransferOrder, TransferPreview]
