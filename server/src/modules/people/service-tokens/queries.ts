import { sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import { profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import type { Paging } from '../../../lib/cursor.ts'

export const serviceTokenColumns = [
  'id',
  'user_id',
  'name',
  'created_by_id',
  profileOfUser(sql.ref('service_tokens.created_by_id')).as('created_by'),
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'last_used_from',
  'networks',
  'scopes',
] as const

export type ServiceTokenRow = Awaited<ReturnType<typeof listServiceTokens>>[number]

/** Returns the service tokens, newest first; one row more than `limit`. */
export function listServiceTokens(db: Db | Trx, vaultId: string, page: Paging) {
  const query = db.selectFrom('service_tokens').select(serviceTokenColumns).where('vault_id', '=', vaultId)
  return newestFirst(query, page).execute()
}

/** Returns the groups of the list that exist in the vault. */
export function listGroupsOfVault(db: Db | Trx, vaultId: string, groupIds: string[]) {
  return db
    .selectFrom('policy_groups')
    .select(['id', isEveryone('policy_groups').as('is_everyone')])
    .where('vault_id', '=', vaultId)
    .where('id', 'in', groupIds)
    .execute()
}
