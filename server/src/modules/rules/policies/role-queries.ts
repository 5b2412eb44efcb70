import { type RawBuilder, sql } from 'kysely'
import { membershipOf } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'

/**
 * Locks a group or policy until the transaction ends, if the caller administers its vault, so that other callers cannot
 * block it. Its content must be read by a later statement, because one that waited for the lock still sees the old state.
 */
export async function lockForAdministrator(
  trx: Trx,
  table: 'policy_groups' | 'policies',
  id: string,
  callerId: string,
): Promise<void> {
  await sql`
    select 1 from ${sql.table(table)} t ${joinVaultRole(sql`t.vault_id`, callerId)}
    where t.id = ${id} and s."isAdmin"
    for update of t`.execute(trx)
}

/** Joins `s`: whether the caller is a member and an administrator of the vault. */
export function joinVaultRole(vaultId: RawBuilder<unknown>, callerId: string): RawBuilder<unknown> {
  return sql`
    cross join lateral (
      select is_member as "isMember", is_admin as "isAdmin" from ${membershipOf(vaultId, sql`${callerId}`)} own
    ) s`
}
