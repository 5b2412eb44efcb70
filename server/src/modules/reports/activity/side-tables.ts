import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { hasCategoryRightIf } from '../../operations/categories/rights.ts'
import { isAmong, type OperationFilter } from '../requests/operation-filter.ts'
import type { PlanStep } from '../requests/reading.ts'

/** Facts that few operations have: a later entry of the address book, and a category. Most vaults have none of them. */
export type SideTables = { laterEntries: boolean; assignments: number }

/** SQL condition: the entry `s` of the address book may be newer than an operation of the report. */
export const mayBeLater = ({ dateBasis, interval }: OperationFilter) =>
  dateBasis === 'createdAt' ? sql`s.created_at >= ${interval.from}` : sql`true`

/**
 * Looks for newer entries of the address book and for assigned categories: most vaults have neither.
 *
 * @param assignmentsMax the number up to which assignments are counted
 */
export async function findSideTables(trx: Trx, filter: OperationFilter, assignmentsMax: number): Promise<SideTables> {
  const { vaultId } = filter.scope
  const { rows } = await sql<SideTables>`
    select exists (select from counterparty_addresses s where s.vault_id = ${vaultId} and ${mayBeLater(filter)}) as "laterEntries",
      (select count(*)::float8 from (
        select from category_assignments a where a.vault_id = ${vaultId} limit ${assignmentsMax}) counted) as assignments`.execute(
    trx,
  )
  return rows[0]!
}

/**
 * SQL: the key of the first category of each operation that the viewer may see: on an operation of the viewer (`own`), and on
 * another operation (`others`). It reads the assignments in one pass, because a lookup for each operation takes quadratic time
 * when PostgreSQL expects few assignments.
 */
export function firstCategories(filter: OperationFilter): RawBuilder<unknown> {
  const { scope } = filter
  const first = (isOwn: boolean) => sql`
    (array_agg(c.key order by a.position, a.created_at, a.id)
      filter (where ${hasCategoryRightIf(scope, 'view', 'c', sql.lit(isOwn))}))[1]`
  return sql`
    select a.operation_id, ${first(true)} as own, ${first(false)} as others
    from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = ${scope.vaultId} and ${isAmong(filter, 'a.operation_id')}
    group by a.operation_id`
}

/** The steps that PostgreSQL must avoid when it joins operations with these facts and groups them. */
export const stepsNotToSumBy: readonly PlanStep[] = ['nestloop', 'sort']
