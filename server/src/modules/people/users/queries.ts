import type { Db, Trx } from '../../../db/client.ts'
import { type ProfileRow, profileColumns } from './present.ts'

/** The user of an e-mail address, which is stored and compared in lower case. */
export async function findUserByEmail(
  db: Db | Trx,
  email: string,
): Promise<(ProfileRow & { disabled_at: Date | null }) | null> {
  const row = await db
    .selectFrom('users')
    .select([...profileColumns, 'users.disabled_at'])
    .where('email', '=', email.toLowerCase())
    .executeTakeFirst()
  return row ?? null
}
