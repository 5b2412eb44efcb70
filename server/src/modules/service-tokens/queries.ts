import { sql } from 'kysely'
import type { Db, Trx } from '../../db/client.ts'
import type { Position } from '../../lib/cursor.ts'

export const serviceTokenColumns = [
  'id',
  'user_id',
  'name',
  'created_by_id',
  'created_at',
  'expires_at',
  'revoked_at',
] as const

export type ServiceTokenRow = Awaited<ReturnType<typeof listServiceTokens>>[number]

/** One row more than `limit`, newest first. */
export function listServiceTokens(db: Db | Trx, vaultId: string, after: Position | null, limit: number) {
  let query = db.selectFrom('service_tokens').select(serviceTokenColumns).where('vault_id', '=', vaultId)
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** Those of the groups that exist in the vault. */
export function listGroupsOfVault(db: Db | Trx, vaultId: string, groupIds: string[]) {
  return db
    .selectFrom('policy_groups')
    .select(['id', 'code', 'is_system'])
    .where('vault_id', '=', vaultId)
    .where('id', 'in', groupIds)
    .execute()
}
