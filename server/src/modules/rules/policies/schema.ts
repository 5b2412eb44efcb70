import { type Static, Type } from 'typebox'
import { subjectKinds } from '../../../access/memberships.ts'
import {
  Closed,
  Code,
  described,
  Enum,
  Id,
  Name,
  Nullable,
  ProfileBeside,
  pageQuery,
  Timestamp,
} from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import {
  ActionType,
  BlockReason,
  ConditionType,
  GroupThreshold,
  PolicyEffect,
  SelectorType,
} from '../decisions/schema.ts'
import { GroupName, looks, MemberUserId, optionalLooks } from '../policy-groups/schema.ts'
import { asPolicySelector } from '../selectors/selector-schema.ts'
import { renderSelectorTable } from '../selectors/selectors.ts'

const ApproverKind = Enum(subjectKinds)
const SelectorValue = Type.Unknown({
  description: [
    'Numbers: {op: gt|gte|lt|lte, value} or {op: between, min, max} with decimal strings.',
    'Sets: one string, or an array of which any string may match; the named objects must exist in the vault.',
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
const groupThresholdText = 'Number of votes that members of this group must give; each vote counts for one group. '

const effect = described(
  PolicyEffect,
  'Effect of the policy when its rules match: permit, refuse, or permit after votes.',
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
  enabled: described(Type.Boolean(), 'True if the policy takes part in decisions.'),
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
        threshold: described(Nullable(GroupThreshold), `${groupThresholdText}null if no number is required.`),
        createdAt: Timestamp,
      }),
    ),
    'Approvers if the policy requires approval. If empty, all members of the group of the policy are approvers.',
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

export const policyComponents = [Policy, PolicyListItem]

const settings = {
  ...optionalLooks,
  blockReason: Type.Optional(Nullable(BlockReason)),
  approvalThreshold: Type.Optional(ApprovalThreshold),
  adminBypass: Type.Optional(Type.Boolean({ examples: [false] })),
  allowInitiatorApproval: Type.Optional(Type.Boolean({ examples: [false] })),
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'True (the default) if the policy takes part in decisions.'),
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
const selectorsDescription = `The selectors, and the actions to which each selector applies:\n\n${renderSelectorTable()}`
const identity = {
  code: Code,
  name: Name,
  actionType: ActionType,
  effect,
}

export const creation = { ...identity, ...settings }
export const CreatePolicy = Closed(creation, { description: selectorsDescription })
export const UpdatePolicy = Closed({ ...Type.Partial(Type.Object(identity)).properties, ...settings })

export const PolicyQuery = Closed({
  ...pageQuery,
  actionType: Type.Optional(described(ActionType, 'Restricts the list to policies for this action.')),
  effect: Type.Optional(described(PolicyEffect, 'Restricts the list to policies with this effect.')),
  enabled: Type.Optional(
    described(Type.Boolean({ examples: [true] }), 'Restricts the list to enabled or to disabled policies.'),
  ),
})
export type Creation = Static<typeof CreatePolicy>

/** A complete policy before it is stored: a new policy, or an existing policy with its change applied. */
export type PolicyDraft = Required<Creation>
