import { type RawBuilder, sql } from 'kysely'
import { isHeldUser, membershipOf } from '../../../access/memberships.ts'
import { administratorRequired, callerHeld, readsOnly } from '../../../access/refusals.ts'
import type { Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'

/** The role of the caller in the vault of a row, read in the same statement as the row. */
export type VaultRole = { isMember: boolean; isAdmin: boolean; isAuditor: boolean; isHeld: boolean }

/**
 * @throws 404 when the row does not exist or the caller is not a member of its vault, so that an id reveals nothing; 403 when they
 *   are held
 */
export function assertReadable<Row extends VaultRole>(row: Row | undefined, noun: string): Row {
  if (row === undefined || !row.isMember) throw notFound(noun)
  if (row.isHeld) throw callerHeld()
  return row
}

/** @throws 404 as `assertReadable`, 403 for a member who does not administer the vault */
export function assertWritable<Row extends VaultRole>(row: Row | undefined, noun: string): Row {
  const readable = assertReadable(row, noun)
  if (readable.isAuditor) throw readsOnly()
  if (!readable.isAdmin) throw administratorRequired()
  return readable
}

/**
 * Locks a group or policy until the transaction ends, if the caller administers its vault, so that other callers cannot
 * block it. A later statement must read its content, because a statement that waited for the lock still sees the old state.
 */
export async function lockForAdministrator(
  trx: Trx,
  table: 'policy_groups' | 'policies',
  id: string,
  callerId: string,
): Promise<void> {
  await sql`
    select 1 from ${sql.table(table)} t ${joinVaultRole(sql`t.vault_id`, callerId)}
    where t.id = ${id} and s."isAdmin" and not s."isHeld"
    for update of t`.execute(trx)
}

/** SQL: joins `s`, the role of the caller in the vault (`VaultRole`). `isHeld` is true if a hold stops the caller. */
export function joinVaultRole(vaultId: RawBuilder<unknown>, callerId: string): RawBuilder<unknown> {
  return sql`
    cross join lateral (
      select is_member as "isMember", is_admin as "isAdmin", is_auditor as "isAuditor",
        ${isHeldUser(vaultId, sql`${callerId}`)} as "isHeld"
      from ${membershipOf(vaultId, sql`${callerId}`)} own
    ) s`
}
