import type { Db, Trx } from '../../../db/client.ts'
import { type OwnProfileRow, ownProfileColumns } from './present.ts'

export function getOwnProfile(db: Db | Trx, userId: string): Promise<OwnProfileRow> {
  return db.selectFrom('users').select(ownProfileColumns).where('id', '=', userId).executeTakeFirstOrThrow()
}

/** What a user interface remembers for the user; empty until they stored something. */
export async function getPreferences(db: Db | Trx, userId: string): Promise<Record<string, unknown>> {
  const query = db.selectFrom('user_preferences').select('preferences').where('user_id', '=', userId)
  return ((await query.executeTakeFirst())?.preferences ?? {}) as Record<string, unknown>
}
