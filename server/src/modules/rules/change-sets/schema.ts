import { Type } from 'typebox'
import {
  Closed,
  described,
  Enum,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  pageQuery,
  Timestamp,
} from '../../../http/schema.ts'
import { changesPerSetMax } from '../../../lib/limits.ts'
import { Differences, ResultingDirection, VersionNumber } from '../rules-versions/schema.ts'
import { governedActions } from './governed-actions.ts'

const Title = described(Name, 'Reason for the change, for its voters.')
const RuleChange = Closed({
  action: described(Enum(governedActions), 'Type of the change; docs/governance.md lists the endpoint of each type.'),
  targetId: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          'Identifier of the changed object, as in the path of the endpoint; `$change:N` stands for the object that ' +
          'change N creates.',
        examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
      }),
    ),
  ),
  payload: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'The body of the endpoint. A secret is shown as its fingerprint.',
    examples: [{ approvalThreshold: 2 }],
  }),
})

/** The statuses of a change set in answers. */
const changeSetStatuses = [
  'draft',
  'pending',
  'scheduled',
  'applied',
  'rejected',
  'cancelled',
  'expired',
  'failed',
  'stale',
] as const
export const ChangeSetDraft = Closed(
  {
    title: Title,
    changes: described(
      Type.Array(RuleChange, { minItems: 1, maxItems: changesPerSetMax }),
      'Carried out in their order, all or none.',
    ),
  },
  {
    $id: 'ChangeSetDraft',
    examples: [
      {
        title: 'A group for the night shift',
        changes: [
          { action: 'policy_group_create', payload: { code: 'night', name: 'Night shift' } },
          {
            action: 'policy_group_member_add',
            targetId: '$change:0',
            payload: { userId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' },
          },
        ],
      },
    ],
  },
)

const changeSetFields = {
  id: Id,
  vaultId: Id,
  title: Title,
  status: described(
    Enum(changeSetStatuses),
    '`draft` until it is submitted, `pending` while votes are missing, `scheduled` while its delay runs; all others are ' +
      'final. `stale`: another change of the rules came first.',
  ),
  isDirect: Type.Boolean({
    description: 'True for a single change that was requested at its own endpoint.',
    examples: [false],
  }),
  authorId: described(Id, 'Author of the draft, who has no vote on it.'),
  author: ProfileBeside,
  baseVersion: described(VersionNumber, 'The version of the rules on which the change set was drafted.'),
  newestVersion: described(
    VersionNumber,
    'The present version of the rules. If it differs from the base version, the change set must be rebased.',
  ),
  direction: ResultingDirection,
  changeCount: described(Type.Integer({ minimum: 1, examples: [2] }), 'Number of changes.'),
  requestId: described(Nullable(Id), 'The approval request with the votes; null before the change set is submitted.'),
  applyAt: described(
    Nullable(Timestamp),
    'Time at which an approved change takes effect, in UTC; null without a delay.',
  ),
  appliedVersion: described(
    Nullable(VersionNumber),
    'The version that the change set published; null unless it was applied.',
  ),
  failureReason: Nullable(
    Type.String({
      description: 'Why the change set was not applied.',
      examples: ['Version 8 of the rules came first'],
    }),
  ),
  resolvedById: described(Nullable(Id), 'User who cancelled the change set; null otherwise.'),
  resolvedBy: ProfileBeside,
  resolvedAt: described(
    Nullable(Timestamp),
    'Time at which the change set was applied or ended otherwise, in UTC; null before.',
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const ChangeSetListItem = Closed(changeSetFields, { $id: 'ChangeSetListItem' })
export const ChangeSet = Closed(
  {
    ...changeSetFields,
    changes: described(Type.Array(RuleChange), 'Carried out in their order, all or none.'),
    differences: Differences,
  },
  { $id: 'ChangeSet', description: 'Several changes of the rules that are decided on as one.' },
)

export const ChangeSetQuery = Closed({
  open: Type.Optional(
    Type.Boolean({
      description: 'true restricts the list to change sets that have not ended, false to change sets that have ended.',
      examples: [true],
    }),
  ),
  ...pageQuery,
})

export const changeSetComponents = [ChangeSetDraft, ChangeSetListItem, ChangeSet]
