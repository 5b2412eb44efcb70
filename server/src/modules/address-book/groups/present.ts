import type { Static } from 'typebox'
import type { CounterpartyGroupRow, MembershipRow } from './queries.ts'
import type { CounterpartyGroup, CounterpartyGroupMembership } from './schema.ts'

export function toCounterpartyGroup(row: CounterpartyGroupRow): Static<typeof CounterpartyGroup> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    code: row.code,
    name: row.name,
    description: row.description,
    avatarUri: row.avatar_uri,
    color: row.color,
    emoji: row.emoji,
    archivedAt: row.archived_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    _count: { memberships: row.member_count },
  }
}

export function toCounterpartyGroupMembership(row: MembershipRow): Static<typeof CounterpartyGroupMembership> {
  return {
    groupId: row.group_id,
    counterpartyId: row.counterparty_id,
    createdAt: row.created_at.toISOString(),
    counterparty: { id: row.counterparty_id, name: row.name, kind: row.kind },
  }
}
