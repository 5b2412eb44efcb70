import { type Static, Type } from 'typebox'
import { subjectKinds } from '../../../access/memberships.ts'
import {
  Closed,
  Code,
  Color,
  DecimalAmount,
  Description,
  described,
  Emoji,
  Enum,
  GivenId,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  pageQuery,
  Ref,
  Timestamp,
  Uri,
} from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { actionTypes, conditionTypes, decisionEffects, policyEffects } from './decision.ts'
import { asPolicySelector, selectorComponents } from './selector-schema.ts'
import { renderSelectorTable } from './selectors.ts'

export const ActionType = Enum(actionTypes)
export const PolicyEffect = Enum(policyEffects)
export const ConditionType = Enum(conditionTypes)
const ApproverKind = Enum(subjectKinds)
export const MemberUserId = Type.String({
  minLength: 1,
  maxLength: limits.membershipUserIdLengthMax,
  description: 'Any string: external services without a user can be members, too.',
  examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'],
})
export const SelectorType = Type.String({ minLength: 1, maxLength: 64, examples: ['amount'] })
const SelectorValue = Type.Unknown({
  description: [
    'Numbers: {op: gt|gte|lt|lte, value} or {op: between, min, max} with decimal strings.',
    'Sets: one string or an array, meaning any of; what is named must exist in the vault.',
    `velocity…: {op: gt|gte|lt|lte, value, windowSeconds: ${limits.velocityWindowSecondsMin} to ` +
      `${limits.velocityWindowSecondsMax}, per: initiator|sourceAddress|destination|vault}.`,
    'routeVariant: {route, variant}, or an array of them. time: {timezone, days, from, to}.',
  ].join(' '),
  examples: [{ op: 'gt', value: '1000' }],
})
const ApprovalThreshold = Type.Integer({
  minimum: 0,
  maximum: limits.approvalThresholdMax,
  description: 'Number of approvals required.',
  examples: [2],
})
const GroupThreshold = Type.Integer({ minimum: 1, maximum: limits.approvalThresholdMax, examples: [2] })
const groupThresholdText = 'How many of the votes the members of this group must give; each vote counts for one group. '

const BlockReason = Type.String({
  minLength: 1,
  maxLength: limits.noteLengthMax,
  description: 'The message for the initiator when this policy blocks.',
  examples: ['Payments stop at the weekend'],
})
const GroupName = Closed({ id: Id, code: Code, name: Name })

const looks = {
  description: Nullable(Description),
  logoUri: Nullable(Uri),
  color: Nullable(Color),
  emoji: Nullable(Emoji),
}
const optionalLooks = Type.Partial(Type.Object(looks)).properties

export const PolicyGroupMembership = Closed(
  {
    id: Id,
    groupId: described(Id, 'Identifier of the policy group.'),
    userId: MemberUserId,
    user: ProfileBeside,
    createdAt: Timestamp,
  },
  { $id: 'PolicyGroupMembership' },
)

const groupFields = {
  id: Id,
  vaultId: Id,
  code: Code,
  name: Name,
  ...looks,
  isSystem: Type.Boolean({ description: 'Made with the vault; cannot be deleted and keeps its code.' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const PolicyGroup = Closed(
  {
    ...groupFields,
    policies: described(
      Type.Array(
        Closed({
          id: Id,
          code: Code,
          name: Name,
          actionType: ActionType,
          effect: described(PolicyEffect, 'What the policy does when its rules match.'),
          enabled: described(Type.Boolean(), 'Whether the policy takes part in decisions.'),
          createdAt: Timestamp,
        }),
      ),
      'The policies of the group.',
    ),
    memberships: Type.Array(Closed({ id: Id, userId: MemberUserId, user: ProfileBeside, createdAt: Timestamp })),
  },
  {
    $id: 'PolicyGroup',
    description: 'The built-in group `everyone` contains every member of the vault; its memberships are not listed.',
  },
)
export const PolicyGroupListItem = Closed(
  {
    ...groupFields,
    _count: Closed({
      policies: described(Type.Integer(), 'Number of policies of the group.'),
      memberships: described(Type.Integer(), 'Number of members of the group.'),
    }),
  },
  { $id: 'PolicyGroupListItem' },
)

const effect = described(
  PolicyEffect,
  'What the policy does when its rules match: permit, refuse, or permit after votes.',
)

const policyFields = {
  id: Id,
  groupId: described(Id, 'Identifier of the policy group that the policy belongs to.'),
  code: Code,
  name: Name,
  ...looks,
  actionType: ActionType,
  effect,
  blockReason: Nullable(BlockReason),
  approvalThreshold: ApprovalThreshold,
  adminBypass: Type.Boolean({ description: 'Waives the approval for an initiator who administers the vault.' }),
  allowInitiatorApproval: Type.Boolean(),
  enabled: described(Type.Boolean(), 'Whether the policy takes part in decisions.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  rules: described(
    Type.Array(
      Closed({
        id: Id,
        policyId: Id,
        conditionType: ConditionType,
        createdAt: Timestamp,
        selectors: Type.Array(
          Closed({
            id: Id,
            ruleId: described(Id, 'Identifier of the rule.'),
            selectorType: SelectorType,
            value: SelectorValue,
          }),
        ),
      }),
    ),
    'All rules must hold for the policy to match; a policy without rules always matches.',
  ),
  approvers: described(
    Type.Array(
      Closed({
        id: Id,
        kind: described(ApproverKind, '`user` for a member of the vault, `group` for the members of a policy group.'),
        userId: described(Nullable(MemberUserId), 'Identifier of the member; null for a group.'),
        user: ProfileBeside,
        groupId: described(Nullable(Id), 'Identifier of the policy group; null for a user.'),
        threshold: described(Nullable(GroupThreshold), `${groupThresholdText}null: none in particular.`),
        createdAt: Timestamp,
      }),
    ),
    'Who may vote when the policy requires approval. If empty, all members of the group of the policy.',
  ),
}

export const Policy = Closed(
  {
    ...policyFields,
    group: described(
      Closed({ id: Id, code: Code, name: Name, vaultId: Id }),
      'The policy group that the policy belongs to.',
    ),
  },
  { $id: 'Policy', description: 'A rule of a vault about one action.' },
)
export const PolicyListItem = Closed(
  {
    ...policyFields,
    group: described(GroupName, 'The policy group that the policy belongs to.'),
    _count: Closed({ rules: described(Type.Integer(), 'Number of rules of the policy.') }),
  },
  { $id: 'PolicyListItem' },
)

/** A candidate policy with the results of its rules; part of previews, simulations and stored decisions. */
export const PolicyTrace = Closed(
  {
    policyId: Id,
    policyCode: Code,
    matched: described(Type.Boolean(), 'Whether the policy matched: all its rules hold.'),
    inDoubt: Type.Optional(
      Type.Boolean({
        description:
          'The policy could not be evaluated, so `matched` is the stricter assumption. An `allow` policy with votes ' +
          'then adds its votes but does not permit the action.',
      }),
    ),
    rules: described(
      Type.Array(
        Closed({
          conditionType: Type.String({ examples: ['require'] }),
          matched: described(Type.Boolean(), 'Whether the rule holds.'),
          selectors: Type.Array(
            Closed({
              selectorType: SelectorType,
              matched: Type.Boolean({
                description:
                  'Whether the selector matched. If it could not be evaluated: true for policies that restrict, false for ' +
                  'policies that allow.',
              }),
              expected: Type.Unknown({
                description: 'The value of the selector.',
                examples: [{ op: 'gt', value: '1000' }],
              }),
              observed: Type.Unknown({
                description:
                  'The value that was compared; null if it could not be determined or the reader may not see it.',
                examples: ['1250'],
              }),
            }),
          ),
        }),
      ),
      'The rules of the policy with their results.',
    ),
  },
  { $id: 'PolicyTrace', description: 'One candidate policy of a decision, matching or not, and why.' },
)

/** The votes of a requirement that groups must give. */
export const GroupThresholds = Type.Array(
  Closed({
    groupId: described(Id, 'Identifier of the policy group.'),
    threshold: described(GroupThreshold, 'How many of the votes its members must give.'),
  }),
  {
    description: 'The votes that groups must give, each of another person; empty if they may come from anybody asked.',
  },
)
export const DecisionEffect = Enum(decisionEffects)
export const DecisionPolicy = Nullable(Closed({ id: Id, code: Code, name: Name }))

/** Beside what was decided. */
export const RulesVersionNumber = described(
  Nullable(Type.Integer({ minimum: 1, examples: [7] })),
  'The version of the rules of the vault whose policies decided; null before the first, and where no policy did.',
)
export const PolicyDecision = Closed(
  {
    effect: described(DecisionEffect, 'What the policies decided. `deny`: no policy permits the action.'),
    decisionPolicy: DecisionPolicy,
    trace: Type.Array(Ref(PolicyTrace)),
  },
  { $id: 'PolicyDecision', description: 'The decision of the policies, with its trace.' },
)
export const PolicySimulation = Closed(
  {
    effect: described(DecisionEffect, 'What the policies would decide. `deny`: no policy permits the action.'),
    blockReason: Nullable(BlockReason),
    decisionPolicy: DecisionPolicy,
    requirements: described(
      Type.Array(
        Closed({
          policyId: Id,
          policyCode: Code,
          threshold: Type.Integer({ minimum: 1, examples: [2] }),
          bypassed: Type.Boolean({ description: 'Waived, because the initiator administers the vault.' }),
          groups: GroupThresholds,
        }),
      ),
      'The votes that would be needed, per policy. All must be reached.',
    ),
    trace: Type.Array(Ref(PolicyTrace)),
    funds: Nullable(
      Closed(
        { available: DecimalAmount, missing: DecimalAmount },
        {
          description:
            'Of a transfer: what its address has available, and how much of the amount is missing. If that is not `0`, ' +
            'the order is a 409 whatever the policies decide. null for other actions.',
        },
      ),
    ),
  },
  { $id: 'PolicySimulation', description: 'What the policies would decide about an action; it changes nothing.' },
)

export const policyComponents = [
  ...selectorComponents,
  PolicyGroupMembership,
  PolicyGroup,
  PolicyGroupListItem,
  Policy,
  PolicyListItem,
  PolicyTrace,
  PolicyDecision,
  PolicySimulation,
]

export const CreatePolicyGroup = Closed({ code: Code, name: Name, ...optionalLooks })
export const UpdatePolicyGroup = Closed({ code: Type.Optional(Code), name: Type.Optional(Name), ...optionalLooks })
export const AddMember = Closed({ userId: MemberUserId })
export const memberParams = {
  id: described(GivenId, 'Identifier of the policy group.'),
  userId: MemberUserId,
}

const settings = {
  ...optionalLooks,
  blockReason: Type.Optional(Nullable(BlockReason)),
  approvalThreshold: Type.Optional(ApprovalThreshold),
  adminBypass: Type.Optional(Type.Boolean({ examples: [false] })),
  allowInitiatorApproval: Type.Optional(Type.Boolean({ examples: [false] })),
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'Whether the policy takes part in decisions; defaults to true.'),
  ),
  rules: Type.Optional(
    Type.Array(
      Closed({
        conditionType: ConditionType,
        selectors: Type.Array(asPolicySelector(Closed({ selectorType: SelectorType, value: SelectorValue })), {
          minItems: 1,
          maxItems: limits.selectorsPerRuleMax,
        }),
      }),
      {
        maxItems: limits.rulesPerPolicyMax,
        description: 'Replaced as a whole. A policy without rules always matches.',
      },
    ),
  ),
  approvers: Type.Optional(
    Type.Array(
      Closed({
        kind: described(ApproverKind, '`user` for a member of the vault, `group` for the members of a policy group.'),
        userId: Type.Optional(described(MemberUserId, 'Identifier of the member, if `kind` is `user`.')),
        groupId: Type.Optional(described(Id, 'Identifier of the policy group, if `kind` is `group`.')),
        threshold: Type.Optional(
          described(GroupThreshold, `${groupThresholdText}Together at most the \`approvalThreshold\`.`),
        ),
      }),
      {
        maxItems: limits.approversPerPolicyMax,
        description: "Replaced as a whole. If empty, all members of the policy's group are approvers.",
      },
    ),
  ),
}
const selectorsDescription = `The selectors, and the actions each applies to:\n\n${renderSelectorTable()}`
const kind = {
  code: Code,
  name: Name,
  actionType: ActionType,
  effect,
}

export const creation = { ...kind, ...settings }
export const CreatePolicy = Closed(creation, { description: selectorsDescription })
export const UpdatePolicy = Closed({ ...Type.Partial(Type.Object(kind)).properties, ...settings })

export const PolicyQuery = Closed({
  ...pageQuery,
  actionType: Type.Optional(described(ActionType, 'Restricts the list to policies for this action.')),
  effect: Type.Optional(described(PolicyEffect, 'Restricts the list to policies with this effect.')),
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'Restricts the list to enabled or to disabled policies.'),
  ),
})
export type Creation = Static<typeof CreatePolicy>

/** A complete policy before it is stored: that of a creation, or an existing policy with the change applied. */
export type PolicyDraft = Required<Creation>
