import type { Static } from 'typebox'
import type { CounterpartyAddressRow, CounterpartyRow } from './queries.ts'
import type { Counterparty, CounterpartyAddress } from './schema.ts'

export function toCounterparty(row: CounterpartyRow): Static<typeof Counterparty> {
  return {
    id: row.id,
    vaultId: row.vault_id,
    name: row.name,
    kind: row.kind,
    description: row.description,
    avatarUri: row.avatar_uri,
    color: row.color,
    emoji: row.emoji,
    archivedAt: row.archived_at?.toISOString() ?? null,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    groups: row.groups,
    addresses: row.addresses.map(toCounterpartyAddress),
  }
}

export function toCounterpartyAddress(row: CounterpartyAddressRow): Static<typeof CounterpartyAddress> {
  const { id, network, address, label, createdAt } = row
  return { id, network, address, label, createdAt }
}
