import { sql } from 'kysely'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, RowOf, Trx } from '../../../db/client.ts'
import type { PlatformChanges } from '../../../db/types.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { PlatformAction, PlatformChangeStatus } from './schema.ts'

export type PlatformChangeRow = RowOf<
  PlatformChanges,
  {
    action: PlatformAction
    payload: Record<string, unknown>
    status: PlatformChangeStatus
    created_by: MemberProfile | null
    decided_by: MemberProfile | null
  }
>

/** Returns waiting and decided changes, newest first, one row more than the limit. */
export async function listPlatformChanges(
  db: Db | Trx,
  { status }: { status?: PlatformChangeStatus },
  { after, limit }: Paging,
): Promise<PlatformChangeRow[]> {
  const { rows } = await sql<PlatformChangeRow>`
    ${selectChanges} where true
      ${status === undefined ? sql`` : sql`and c.status = ${status}`}
      ${after === null ? sql`` : sql`and (c.created_at, c.id) < (${after.createdAt}, ${after.id})`}
    order by c.created_at desc, c.id desc limit ${limit + 1}`.execute(db)
  return rows
}

export async function findPlatformChange(db: Db | Trx, id: string): Promise<PlatformChangeRow | null> {
  const { rows } = await sql<PlatformChangeRow>`${selectChanges} where c.id = ${id}`.execute(db)
  return rows[0] ?? null
}

const selectChanges = sql`
  select c.*, ${profileOfUser(sql`c.created_by_id`)} as created_by, ${profileOfUser(sql`c.decided_by_id`)} as decided_by
  from platform_changes c`
