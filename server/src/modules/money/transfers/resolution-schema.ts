import { Type } from 'typebox'
import { Closed, described, Enum } from '../../../http/schema.ts'
import { noteLengthMax, txHashLengthMax } from '../../../lib/limits.ts'
import { resolutionOutcomes } from './resolution.ts'

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
      description: 'Why, for those who vote on it and for the audit record.',
      examples: ['The wallet service was restored from a backup'],
    }),
  },
  { $id: 'TransferResolution', description: 'How a halted or forgotten transfer is to end or to go on.' },
)
