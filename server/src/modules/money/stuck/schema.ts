import { Type } from 'typebox'
import { Closed, DecimalAmount, described, Enum, Nullable, RawAmount } from '../../../http/schema.ts'
import { noteLengthMax, txHashLengthMax } from '../../../lib/limits.ts'
import { resolutionOutcomes } from './resolution.ts'

const NewestHash = described(
  Nullable(
    Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: '^[\\x21-\\x7e]+$',
      examples: ['0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'],
    }),
  ),
  'The transaction to replace: `txHash` of the transfer as the caller read it. null: it had none.',
)

export const ReplacementOrder = Closed(
  {
    txHash: NewestHash,
    maxFee: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,77}$',
        description:
          'The most that the new transaction may cost, in the smallest unit of the coin. The policies first decide on a ' +
          'limit above that of the order, as they did on the order.',
        examples: ['4200000000000000'],
      }),
    ),
  },
  { $id: 'ReplacementOrder', description: 'The transaction to replace, and the highest fee of its replacement.' },
)

const ReplacementCost = Closed({
  maxFee: described(
    Nullable(
      Closed({
        amount: RawAmount,
        amountDecimal: DecimalAmount,
        asset: Type.String({ description: 'Code of the token.', examples: ['ETH'] }),
      }),
    ),
    'The most that the replacement would cost; null when the replacement is impossible.',
  ),
  refusal: described(
    Nullable(Type.String({ examples: ['The transaction, or one that takes its place, is already in a block'] })),
    'The reason for which the replacement is impossible now; null otherwise.',
  ),
  needsApproval: Type.Boolean({
    description:
      'True if the cost exceeds the limit of the order. Then the policies decide on it as on an order with that `maxFee`.',
    examples: [false],
  }),
})

export const ReplacementPreview = Closed(
  {
    txHash: NewestHash,
    speedUp: described(ReplacementCost, 'The same payment with a higher fee.'),
    cancelOnChain: described(ReplacementCost, 'A transaction that moves nothing in its place.'),
  },
  { $id: 'ReplacementPreview', description: 'Present cost of replacing the transaction of a transfer.' },
)

export const TransferResolution = Closed(
  {
    outcome: described(
      Enum(resolutionOutcomes),
      '`settle`: it was paid by the transaction `txHash`. `release`: it was not paid and never will be. `resume`: the ' +
        'wallet service is asked again, or gets it again under the same id.',
    ),
    txHash: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: txHashLengthMax,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'Hash of the transaction that paid it; with `settle` only, where it is required.',
        examples: ['0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'],
      }),
    ),
    reason: Type.String({
      minLength: 1,
      maxLength: noteLengthMax,
      pattern: '\\S',
      description: 'Reason, for the voters and the audit log.',
      examples: ['The wallet service was restored from a backup'],
    }),
  },
  { $id: 'TransferResolution', description: 'The resolution of a halted or forgotten transfer.' },
)

export const stuckTransferComponents = [TransferResolution, ReplacementOrder, ReplacementPreview]
