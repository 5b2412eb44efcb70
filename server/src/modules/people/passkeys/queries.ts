import { sql } from 'kysely'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/newest-first.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { PreparedStep } from '../../rules/votes/executor.ts'

import { type KeyColumns, readNewKey } from './new-key.ts'

/** A passkey. `waitsFor` is set until a second person accepts it; before that the passkey cannot be used. */
export type PasskeyRow = KeyColumns & { waitsFor: { vaultCode: string; approvalRequestId: string } | null }

/** Returns the passkeys of a person, including those that wait, newest first; one row more than `limit`. */
export async function listPasskeys(
  db: Db | Trx,
  userId: string,
  { after, limit, now }: Paging & { now: Date },
): Promise<PasskeyRow[]> {
  const query = db
    .selectFrom('passkeys')
    .select(['id', 'credential_id', 'public_key', 'name', 'is_synced', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
  const rows = await newestFirst(query, { after, limit }).execute()
  const waiting = (await listWaiting(db, userId, now)).filter(
    (row) => after === null || isOlder(row, { created_at: after.createdAt, id: after.id }),
  )
  const listed = [...waiting, ...rows.map((row) => ({ ...row, waitsFor: null }))]
  return listed.sort((a, b) => (isOlder(a, b) ? 1 : -1)).slice(0, limit + 1)
}

type Dated = Pick<PasskeyRow, 'created_at' | 'id'>

const isOlder = (a: Dated, b: Dated): boolean => {
  const later = a.created_at.getTime() - b.created_at.getTime()
  return later < 0 || (later === 0 && a.id < b.id)
}

/** Returns the waiting passkeys of a person: at most one in each of their protected vaults. */
async function listWaiting(db: Db | Trx, userId: string, now: Date): Promise<PasskeyRow[]> {
  const { rows } = await sql<{ id: string; vaultCode: string; steps: PreparedStep[]; createdAt: Date }>`
    select r.id, v.code as "vaultCode", r.steps, r.created_at as "createdAt"
    from approval_requests r join vaults v on v.id = r.vault_id
    where r.initiator_id = ${userId} and r.action = 'passkey_add' and r.status = 'pending' and r.expires_at > ${now}`.execute(
    db,
  )
  return rows.map(({ id: approvalRequestId, vaultCode, steps, createdAt }) => ({
    ...readNewKey(steps[0]!.step.payload, createdAt),
    waitsFor: { vaultCode, approvalRequestId },
  }))
}

/** Returns the credentials of a person in the form of browsers; at most as many as a person may have. */
export async function listCredentials(db: Db | Trx, userId: string) {
  const rows = await db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()
  return rows.map(({ credential_id, transports }) => ({
    type: 'public-key' as const,
    id: credential_id.toString('base64url'),
    transports,
  }))
}

/**
 * Finds the vault where a second person can accept the first passkey of a person: the first of their protected vaults
 * with another administrator who has a passkey. `vaultId` is null when no vault has such an administrator. Returns null
 * when the person is in no protected vault. The vaults are locked so that their protection cannot be switched.
 */
export async function findSecondPersons(trx: Trx, userId: string): Promise<{ vaultId: string | null } | null> {
  const { rows } = await sql<{ id: string; hasOther: boolean }>`
    select v.id, exists (
      select from policy_groups g
      join policy_group_memberships m on m.vault_id = g.vault_id and m.group_id = g.id
      join users u on u.id = m.user_id and u.disabled_at is null
      where g.vault_id = v.id and ${isAdministrators('g')} and u.id <> ${userId}
        and exists (select from passkeys p where p.user_id = u.id)) as "hasOther"
    from vaults v
    where v.protection <> 'off' and exists (
      select from policy_group_memberships m where m.vault_id = v.id and m.user_id = ${userId})
    order by v.id for share of v`.execute(trx)
  if (rows.length === 0) return null
  return { vaultId: rows.find(({ hasOther }) => hasOther)?.id ?? null }
}
