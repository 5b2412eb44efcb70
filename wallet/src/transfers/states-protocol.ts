import Type from 'typebox'
import { statesMax, transferIdLengthMax } from '../limits.ts'
import { TransferStatus } from '../protocol.ts'

const strict = { additionalProperties: false }

export const TransfersQuery = Type.Object(
  {
    ids: Type.String({
      minLength: 1,
      maxLength: (transferIdLengthMax + 1) * statesMax,
      pattern: `^[A-Za-z0-9._:-]+(,[A-Za-z0-9._:-]+){0,${statesMax - 1}}$`,
      description: `Ids of 1 to ${statesMax} transfers, separated by commas.`,
      examples: ['cmf0000000000000000000000,cmf0000000000000000000001'],
    }),
  },
  strict,
)
export const TransferStates = Type.Object(
  {
    transfers: Type.Array(TransferStatus, {
      maxItems: statesMax,
      description: 'The state of each transfer of the client, in any order. Unknown ids are left out.',
    }),
  },
  { ...strict, title: 'TransferStates' },
)
