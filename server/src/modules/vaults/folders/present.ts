import type { Static } from 'typebox'
import { toGrant } from '../grants/present.ts'
import type { GrantRow } from '../grants/queries.ts'
import type { AddressGroupMemberRow, AddressGroupRow } from './queries.ts'
import type { AddressGroup, AddressGroupGrant, AddressGroupMember } from './schema.ts'

export function toAddressGroup(row: AddressGroupRow): Static<typeof AddressGroup> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    name: row.name,
    description: row.description,
    color: row.color,
    emoji: row.emoji,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    memberCount: row.member_count,
    access: row.access,
    sharing: { isShared: row.is_shared, participantCount: row.participant_count },
  }
}

export function toAddressGroupMember(row: AddressGroupMemberRow): Static<typeof AddressGroupMember> {
  return {
    groupId: row.group_id,
    addressId: row.address_id,
    createdAt: row.created_at.toISOString(),
    address: { id: row.address_id, address: row.address, label: row.label },
  }
}

export function toAddressGroupGrant(row: GrantRow): Static<typeof AddressGroupGrant> {
  return { ...toGrant(row), groupId: row.shared_id }
}
