import type { Static } from 'typebox'
import type { GroupListRow, GroupRow, MembershipRow } from './queries.ts'
import type { PolicyGroup, PolicyGroupListItem, PolicyGroupMembership } from './schema.ts'

export function toPolicyGroup(row: GroupRow): Static<typeof PolicyGroup> {
  return {
    ...groupFields(row),
    policies: row.policies.map(inUtc),
    memberships: row.memberships.map(inUtc),
  }
}

export function toPolicyGroupListItem(row: GroupListRow): Static<typeof PolicyGroupListItem> {
  return { ...groupFields(row), _count: { policies: row.policyCount, memberships: row.membershipCount } }
}

export function toMembership(row: MembershipRow): Static<typeof PolicyGroupMembership> {
  return { ...row, createdAt: row.createdAt.toISOString() }
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

/** JSON of PostgreSQL writes `+00:00` where the wire has `Z`. */
export const inUtc = <Row extends { createdAt: string }>(row: Row): Row => ({
  ...row,
  createdAt: new Date(row.createdAt).toISOString(),
})
