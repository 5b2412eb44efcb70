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
  Ref,
  Timestamp,
} from '../../../http/schema.ts'
import { changesPerSetMax } from '../../../lib/limits.ts'
import { Fingerprint } from '../signatures/schema.ts'
import { governedActions } from './actions.ts'
import { differenceKinds } from './difference.ts'
import { directions } from './direction.ts'
import { governanceFields, RulesDocument } from './document-schema.ts'

/** The statuses of a change set in answers. */
export const changeSetStatuses = [
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

export const Governance = Closed(governanceFields, {
  $id: 'Governance',
  description: 'Who must agree to changes of the rules of a vault, and how long an approved change waits.',
})
export const GovernanceUpdate = Closed({
  ...governanceFields,
  approverGroupId: Type.Optional(governanceFields.approverGroupId),
})

const Direction = Enum(directions)
const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [7] })
const Direct = 'Of a change against the version before: computed, not declared.'
const ResultingDirection = described(Direction, `\`tightening\` if it can only make decisions stricter. ${Direct}`)

const versionFields = {
  number: described(VersionNumber, 'Number of the version; the first is 1.'),
  hash: described(Fingerprint, 'SHA-256 of the canonical JSON of the document, in hexadecimal digits.'),
  authorId: described(Nullable(Id), 'Who published it; null for the first, and for what changed outside of the vault.'),
  author: ProfileBeside,
  changeSetId: described(Nullable(Id), 'The change set that was applied; null for a change by one endpoint.'),
  direction: described(Nullable(Direction), `null for the first. ${Direct}`),
  createdAt: Timestamp,
}

export const RulesVersionListItem = Closed(versionFields, { $id: 'RulesVersionListItem' })
export const RulesVersion = Closed(
  { ...versionFields, document: Ref(RulesDocument) },
  { $id: 'RulesVersion', description: 'A published state of the rules of a vault.' },
)

const Part = (text: string) =>
  described(
    Nullable(
      Type.Unsafe<object>({
        type: 'object',
        additionalProperties: true,
        examples: [{ code: 'large', approvalThreshold: 2 }],
      }),
    ),
    text,
  )
const Differences = described(
  Type.Array(
    Closed({
      kind: described(Enum(differenceKinds), 'Part of the rules.'),
      id: described(
        Nullable(Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })),
        'Identifier of what differs; null if there is one of its kind.',
      ),
      name: described(Type.String({ examples: ['Large payments'] }), 'Name for people to read.'),
      before: Part('As in the first document; null for what is new.'),
      after: Part('As in the second document; null for what is removed.'),
    }),
  ),
  'The parts that differ, in the order of the document.',
)
export const RulesDifference = Closed(
  {
    from: described(VersionNumber, 'The first version.'),
    to: described(VersionNumber, 'The second version.'),
    direction: ResultingDirection,
    differences: Differences,
  },
  { $id: 'RulesDifference', description: 'What differs between two versions of the rules.' },
)

const Title = described(Name, 'What the change is for, for those who vote.')
const RuleChange = Closed({
  action: described(Enum(governedActions), 'What is done; docs/governance.md lists the endpoint of each.'),
  targetId: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'What is changed, as in the path of the endpoint; `$change:N` stands for what change N creates.',
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
      'final. `stale`: the rules changed first.',
  ),
  isDirect: Type.Boolean({ description: 'One change that its own endpoint asked for.', examples: [false] }),
  authorId: described(Id, 'Who drafted it, and has no vote on it.'),
  author: ProfileBeside,
  baseVersion: described(VersionNumber, 'The version of the rules that it was drafted on.'),
  newestVersion: described(
    VersionNumber,
    'The version of the rules now; if it is another one, the change set must be rebased.',
  ),
  direction: ResultingDirection,
  changeCount: described(Type.Integer({ minimum: 1, examples: [2] }), 'Number of changes.'),
  requestId: described(Nullable(Id), 'The approval request with its votes; null before it is submitted.'),
  applyAt: described(Nullable(Timestamp), 'When an approved change takes effect, in UTC; null without a delay.'),
  appliedVersion: described(Nullable(VersionNumber), 'The version that it made; null unless it was applied.'),
  failureReason: Nullable(
    Type.String({ description: 'Why it was not applied.', examples: ['Version 8 of the rules came first'] }),
  ),
  resolvedById: described(Nullable(Id), 'Who cancelled it; null otherwise.'),
  resolvedBy: ProfileBeside,
  resolvedAt: described(Nullable(Timestamp), 'When it ended, in UTC; null before.'),
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
      description: 'true restricts the list to change sets that have not ended, false to those that have.',
      examples: [true],
    }),
  ),
  ...pageQuery,
})
export const versionParams = { number: described(VersionNumber, 'Number of the version.') }
export const DifferenceQuery = Closed({
  to: described(VersionNumber, 'The version to compare with.'),
})

export const WithheldTokens = Closed({
  items: described(
    Type.Array(
      Closed({
        tokenId: Id,
        code: described(Type.String({ examples: ['USDC'] }), 'Code of the token.'),
        name: Name,
        network: described(Type.String({ examples: ['ethereum'] }), 'Slug of the network.'),
        createdAt: described(Timestamp, 'Instant at which the platform enabled it, in UTC.'),
      }),
    ),
    'The newest first.',
  ),
})

export const governanceComponents = [
  Governance,
  RulesDocument,
  RulesVersionListItem,
  RulesVersion,
  RulesDifference,
  ChangeSetDraft,
  ChangeSetListItem,
  ChangeSet,
]
