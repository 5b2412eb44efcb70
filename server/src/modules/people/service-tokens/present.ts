import { scopes } from '../../../access/scopes.ts'
import { fingerprintOf } from '../../../lib/signed-vote.ts'
import type { ServiceKeyRow } from './keys.ts'
import type { ServiceTokenRow } from './queries.ts'
import type { ServiceKey, ServiceToken } from './schema.ts'

export function toServiceKey(row: ServiceKeyRow): ServiceKey {
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key.toString('base64url'),
    fingerprint: fingerprintOf(row.public_key),
    createdById: row.created_by_id,
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }
}

export function toServiceToken(row: ServiceTokenRow): ServiceToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedFrom: row.last_used_from,
    networks: row.networks,
    scopes: scopes.filter((scope) => row.scopes.includes(scope)),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }
}
