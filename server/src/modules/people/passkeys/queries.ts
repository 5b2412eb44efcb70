import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'

export type PasskeyRow = Awaited<ReturnType<typeof listPasskeys>>[number]

/** The passkeys of a person, newest first; one row more than `limit`. */
export function listPasskeys(
  db: Db | Trx,
  userId: string,
  { after, limit }: { after: Position | null; limit: number },
) {
  let query = db
    .selectFrom('passkeys')
    .select(['id', 'credential_id', 'public_key', 'name', 'is_synced', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
  if (after !== null) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** The credentials of a person, as browsers name them; at most as many as a person may have. */
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
