import type { Static } from 'typebox'
import type { GroupListRow, GroupRow, MembershipRow, PolicyRow } from './queries.ts'
import type { Policy, PolicyGroup, PolicyGroupListItem, PolicyGroupMembership, PolicyListItem } from './schema.ts'

export function toPolicyGroup(row: GroupRow): Static<typeof PolicyGroup> {
  return {
    ...groupFields(row),
    policies: row.policies.map((policy) => ({ ...policy, createdAt: isoOf(policy.createdAt) }) as PolicyInGroup),
    memberships: row.memberships.map(({ id, userId, createdAt }) => ({ id, userId, createdAt: isoOf(createdAt) })),
  }
}

type PolicyInGroup = Static<typeof PolicyGroup>['policies'][number]

export function toPolicyGroupListItem(row: GroupListRow): Static<typeof PolicyGroupListItem> {
  return { ...groupFields(row), _count: { policies: row.policyCount, memberships: row.membershipCount } }
}

export function toMembership(row: MembershipRow): Static<typeof PolicyGroupMembership> {
  return { id: row.id, groupId: row.groupId, userId: row.userId, createdAt: row.createdAt.toISOString() }
}

export function toPolicy(row: PolicyRow): Static<typeof Policy> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName, vaultId: row.vaultId }
  return { ...policyFields(row), group }
}

export function toPolicyListItem(row: PolicyRow): Static<typeof PolicyListItem> {
  const group = { id: row.groupId, code: row.groupCode, name: row.groupName }
  return { ...policyFields(row), group, _count: { rules: row.rules.length } }
}

function groupFields(row: Omit<GroupRow, 'policies' | 'memberships'>) {
  return {
    id: row.id,
    vaultId: row.vaultId,
    code: row.code,
    name: row.name,
    description: row.description,
    logoUri: row.logoUri,
    color: row.color,
    emoji: row.emoji,
    isSystem: row.isSystem,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

function policyFields(row: PolicyRow) {
  return {
    id: row.id,
    groupId: row.groupId,
    code: row.code,
    name: row.name,
    description: row.description,
    logoUri: row.logoUri,
    color: row.color,
    emoji: row.emoji,
    actionType: row.actionType as Static<typeof Policy>['actionType'],
    effect: row.effect,
    blockReason: row.blockReason,
    approvalThreshold: row.approvalThreshold,
    adminBypass: row.adminBypass,
    allowInitiatorApproval: row.allowInitiatorApproval,
    enabled: row.enabled,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    rules: row.rules.map((rule) => ({
      id: rule.id,
      policyId: row.id,
      conditionType: rule.conditionType as Static<typeof Policy>['rules'][number]['conditionType'],
      createdAt: rule.createdAt,
      selectors: rule.selectors.map(({ id, selectorType, value }) => ({ id, ruleId: rule.id, selectorType, value })),
    })),
    approvers: row.approvers.map(({ id, kind, userId, groupId, createdAt }) => ({
      id,
      kind,
      userId,
      groupId,
      createdAt: isoOf(createdAt),
    })),
  }
}

/** JSON of PostgreSQL writes `+00:00` where the wire has `Z`. */
function isoOf(timestamp: string): string {
  return new Date(timestamp).toISOString()
}
