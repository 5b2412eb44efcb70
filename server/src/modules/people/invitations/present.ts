import type { InvitationRow } from './queries.ts'
import type { Invitation } from './schema.ts'

/** Returns an invitation without its token. Only `toInvitationWithToken` shows the token. */
export function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    vaultId: row.vault_id,
    email: row.email,
    status: row.status,
    createdById: row.created_by_id,
    acceptedAt: row.accepted_at?.toISOString() ?? null,
    acceptedUserId: row.accepted_user_id,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    groupMemberships: row.groups.map((group) => ({
      id: group.id,
      invitationId: group.invitation_id,
      groupId: group.group_id,
      // PostgreSQL formats a timestamp within JSON differently.
      createdAt: new Date(group.created_at).toISOString(),
      group: { id: group.group_id, code: group.code, name: group.name },
    })),
    createdBy: row.created_by,
    acceptedUser: row.accepted_user,
  }
}

export function toInvitationWithToken(row: InvitationRow, token: string): Invitation {
  return { ...toInvitation(row), token }
}
