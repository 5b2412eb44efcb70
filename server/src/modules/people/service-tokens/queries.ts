import { sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import { profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'

export const serviceTokenColumns = [
  'id',
  'user_id',
  'name',
  'created_by_id',
  profileOfUser(sql.ref('service_tokens.created_by_id')).as('created_by'),
  'created_at',
  'expires_at',
  'revoked_at',
] as const

export type ServiceTokenRow = Awaited<ReturnType<typeof listServiceTokens>>[number]

/** One row more than `limit`, newest first. */
export function listServiceTokens(
  db: Db | Trx,
  vaultId: string,
  { after, limit }: { after: Position | null; limit: number },
) {
  let query = db.selectFrom('service_tokens').select(serviceTokenColumns).where('vault_id', '=', vaultId)
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** The groups of the list that exist in the vault. */
export function listGroupsOfVault(db: Db | Trx, vaultId: string, groupIds: string[]) {
  return db
    .selectFrom('policy_groups')
    .select(['id', 'name', isEveryone('policy_groups').as('is_everyone')])
    .where('vault_id', '=', vaultId)
    .where('id', 'in', groupIds)
    .execute()
}

/** The groups of the vault that a user is in; `everyone`, which stores no members, is not among them. */
export function listGroupsOfMember(db: Db | Trx, vaultId: string, userId: string) {
  return db
    .selectFrom('policy_groups')
    .innerJoin('policy_group_memberships as m', (join) =>
      join.onRef('m.vault_id', '=', 'policy_groups.vault_id').onRef('m.group_id', '=', 'policy_groups.id'),
    )
    .select(['policy_groups.id', 'policy_groups.name'])
    .where('policy_groups.vault_id', '=', vaultId)
    .where('m.user_id', '=', userId)
    .orderBy('policy_groups.name')
    .execute()
}
