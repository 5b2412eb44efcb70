import Type, { type Static } from 'typebox'
import { changesMax, changeWaitSecondsMax } from '../limits.ts'
import { TransferStatus } from '../protocol.ts'

const strict = { additionalProperties: false }

/** The state of a transfer in an answer about many transfers. */
const TransferChange = Type.Omit(TransferStatus, ['txHashes', 'waitsFor', 'waitingReason', 'replacedBy'], strict)
export type TransferChange = Static<typeof TransferChange>

const Cursor = {
  pattern: '^[A-Za-z0-9_-]{1,200}$',
  examples: ['MWI5ZDY3MTItYTM0NC00NjBjLWI5YjgtNDNmNmQ1M2MxZWQ1IDQy'],
}
export const ChangesQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        ...Cursor,
        description: 'The cursor of the previous answer. Without it, the changes begin at this moment.',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `Maximum number of changes in the answer: 1 to ${changesMax}, which is the default.`,
        examples: ['1000'],
      }),
    ),
    wait: Type.Optional(
      Type.String({
        pattern: '^(1?[0-9]|2[0-5])$',
        description: `Seconds that the answer may wait for the first change: 0, which is the default, to ${changeWaitSecondsMax}.`,
        examples: ['25'],
      }),
    ),
  },
  strict,
)
export type ChangesQuery = Static<typeof ChangesQuery>
export const Changes = Type.Object(
  {
    changes: Type.Array(TransferChange, {
      maxItems: changesMax,
      description: 'The present state of each transfer, in the order in which they changed last.',
    }),
    cursor: Type.String({
      ...Cursor,
      description: 'The position after these changes. It is opaque, and valid for this client only.',
    }),
  },
  { ...strict, title: 'Changes' },
)
export type Changes = Static<typeof Changes>
