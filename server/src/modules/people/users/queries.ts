import type { Db, Trx } from '../../../db/client.ts'
import { type OwnProfileRow, ownProfileColumns } from './present.ts'

export function getOwnProfile(db: Db | Trx, userId: string): Promise<OwnProfileRow> {
  return db.selectFrom('users').select(ownProfileColumns).where('id', '=', userId).executeTakeFirstOrThrow()
}
