import { sql } from 'kysely'
import type { Db, Trx } from '../db/client.ts'
import type { Viewer } from './address-scope.ts'
import { isEveryone, isHeldUser, membershipOf } from './memberships.ts'

/** A user as the viewer of one of their vaults. */
export type ViewerOfVault = Viewer & { vault: { id: string; code: string } }

/** Returns the user as the viewer of each of their vaults in which no hold stops them; empty for a disabled user. */
export async function listViewers(db: Db | Trx, userId: string): Promise<ViewerOfVault[]> {
  const { rows } = await sql<{
    id: string
    code: string
    group_ids: string[]
    everyone_id: string | null
    is_admin: boolean
    is_auditor: boolean
  }>`
    select v.id, v.code, g.group_ids, e.id as everyone_id, g.is_admin, g.is_auditor
    from (select distinct m.vault_id from policy_group_memberships m
      join users u on u.id = m.user_id and u.disabled_at is null
      where m.user_id = ${userId} and not ${isHeldUser(sql.ref('m.vault_id'), sql.ref('m.user_id'))}) own
    join vaults v on v.id = own.vault_id
    cross join lateral ${membershipOf(sql`v.id`, sql`${userId}`)} g
    left join policy_groups e on e.vault_id = v.id and ${isEveryone('e')}
    order by v.id`.execute(db)
  return rows.map(({ id, code, group_ids, everyone_id, is_admin, is_auditor }) => ({
    userId,
    readsAll: is_admin || is_auditor,
    groupIds: everyone_id === null ? group_ids : [...group_ids, everyone_id],
    vault: { id, code },
  }))
}
