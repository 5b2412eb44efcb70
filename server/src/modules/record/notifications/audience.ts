import { type RawBuilder, sql } from 'kysely'
import { isAdministrators } from '../../../access/system-groups.ts'

/** SQL that selects as `user_id` who administers any of the vaults. */
export function administratorsOf(vaultIds: string[]): RawBuilder<unknown> {
  return sql`
    select m.user_id from policy_groups g
    join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
    where g.vault_id = any(${vaultIds}::text[]) and ${isAdministrators('g')}`
}

/** SQL: whether mail reaches a row `u` of `users`. */
export const isReachable = sql<boolean>`(u.email is not null and u.disabled_at is null)`
