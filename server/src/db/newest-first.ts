import { type SelectQueryBuilder, sql } from 'kysely'
import type { Paging } from '../lib/cursor.ts'

/** Limits a query of one table to a page: newest first by (created_at, id), with one row more than the limit. */
export function newestFirst<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  { after, limit }: Paging,
): SelectQueryBuilder<DB, Table, Row> {
  const rest = after === null ? query : query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return rest
    .orderBy(sql`created_at`, 'desc')
    .orderBy(sql`id`, 'desc')
    .limit(limit + 1)
}
