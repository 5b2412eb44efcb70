import { Type } from 'typebox'
import { Closed, described, Enum, Nullable, VaultCode } from '../../../http/schema.ts'
import { changesPerAnswerMax, changeWaitSecondsMax } from '../../../lib/limits.ts'

/** The kinds of objects that can change. Triggers write these names (migrations 0030, 0033 and 0039). */
const changeKinds = [
  'transfer',
  'deposit',
  'approval_request',
  'payout',
  'address',
  'address_group',
  'counterparty',
  'counterparty_group',
  'policy',
  'group',
  'category',
  'adjustment',
  'hold',
  'vault',
  'token',
  'rate',
] as const
export type ChangeKind = (typeof changeKinds)[number]

export const Changes = Closed(
  {
    items: Type.Array(
      Closed({
        vault: described(Nullable(VaultCode), 'Code of the vault; null for an object of no vault, such as a rate.'),
        kind: described(Enum(changeKinds), 'Type of the changed object. For a `rate`, `id` identifies its token.'),
        id: Type.String({ description: 'Identifier of the object.', examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
      }),
      { description: `Objects that changed since \`after\`, each listed once; at most ${changesPerAnswerMax}.` },
    ),
    nextCursor: Type.String({ description: 'Value of `after` for the next request.', examples: ['3mXj0m1Vq8'] }),
    reset: Type.Boolean({
      description:
        'True if `after` is too old or too many objects changed: read the objects again, and continue at `nextCursor`.',
      examples: [false],
    }),
  },
  { $id: 'Changes', description: 'Changed objects, by identifier and without their content.' },
)

export const ChangesQuery = Closed({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_000,
      description: '`nextCursor` of the previous answer. Without it, the answer is the present cursor, at once.',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: changeWaitSecondsMax,
      default: 0,
      description: 'Seconds to wait for a change before the answer is empty.',
      examples: [changeWaitSecondsMax],
    }),
  ),
})

export const changesComponents = [Changes]
