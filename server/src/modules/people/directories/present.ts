import type { DirectoryPersonRow, DirectoryRow } from './queries.ts'
import type { Directory, DirectoryPerson } from './schema.ts'

export function toDirectory(row: DirectoryRow, origin: string): Directory {
  return {
    id: row.id,
    name: row.name,
    domains: row.domains,
    status: row.status,
    baseUri: `${origin}/scim/v2`,
    tokenExpiresAt: row.token_expires_at.toISOString(),
    previousTokenExpiresAt: row.previous_token_expires_at?.toISOString() ?? null,
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    peopleCount: row.people_count,
    activeCount: row.active_count,
    heldCount: row.held_count,
    createdById: row.created_by_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export function toDirectoryPerson(row: DirectoryPersonRow): DirectoryPerson {
  return {
    userId: row.id,
    name: row.name,
    email: row.email,
    userName: row.user_name,
    externalId: row.external_id,
    active: row.active,
    disabledAt: row.disabled_at?.toISOString() ?? null,
    heldSince: row.held_since?.toISOString() ?? null,
  }
}
