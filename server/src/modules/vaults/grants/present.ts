import type { Static } from 'typebox'
import type { GrantRow } from './queries.ts'
import type { AddressGrant } from './schema.ts'

export function toAddressGrant(row: GrantRow): Static<typeof AddressGrant> {
  return { ...toGrant(row), addressId: row.shared_id }
}

/** Returns the fields of every grant. The presenter of each type of grant adds the address or folder. */
export function toGrant(row: GrantRow): Omit<Static<typeof AddressGrant>, 'addressId'> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    subject: toSubject(row),
    canView: row.can_view,
    canTransfer: row.can_transfer,
    grantorId: row.grantor_id,
    grantor: row.grantor,
    createdAt: row.created_at.toISOString(),
  }
}

function toSubject(row: GrantRow): Static<typeof AddressGrant>['subject'] {
  const { subject_id: id, group_code: code, group_name } = row
  if (code !== null && group_name !== null) return { id, code, name: group_name }
  const { user_name: name, username, image, color, emoji } = row
  return { id, name, username, image, color, emoji }
}
