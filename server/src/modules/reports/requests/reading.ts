import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { holdSnapshot, readSnapshot } from '../../../db/transaction.ts'
import { reportedOperationsNamedMax } from '../../../lib/limits.ts'
import { mayBeReported, type OperationFilter } from './operation-filter.ts'

/** Memory of one sort or hash of a report; a larger one uses the disk. */
const sortMemory = '64MB'

/** Runs `read` in one snapshot of the database, so that all figures of a report agree. */
export async function inSnapshot<Result>(db: Db, read: (trx: Trx) => Promise<Result>): Promise<Result> {
  return readSnapshot(db, forSorting(read))
}

/** Runs `use` once in such a snapshot, for rows that leave the service while they are read. */
export async function inHeldSnapshot<Result>(db: Db, use: (trx: Trx) => Promise<Result>): Promise<Result> {
  return holdSnapshot(db, forSorting(use))
}

function forSorting<Result>(read: (trx: Trx) => Promise<Result>): (trx: Trx) => Promise<Result> {
  return async (trx) => {
    await sql`select set_config('work_mem', ${sortMemory}, true), set_config('jit', 'off', true)`.execute(trx)
    return read(trx)
  }
}

/** Counts the rows that each `from` clause selects, in one statement. */
export async function countEach<Name extends string>(
  trx: Trx,
  froms: Record<Name, RawBuilder<unknown>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(froms) as Name[]
  const counts = names.map((name) => sql`(select count(*)::float8 ${froms[name]}) as ${sql.ref(name)}`)
  const { rows } = await sql<Record<Name, number>>`select ${sql.join(counts)}`.execute(trx)
  return rows[0]!
}

/** Counts the rows that `from` and the text after it select. */
export async function countRows(trx: Trx, from: RawBuilder<unknown>): Promise<number> {
  return (await countEach(trx, { count: from })).count
}

/** The number of rows that one round trip fetches when all rows are read. */
const rowsPerFetch = 500

/** Yields every row of a query, in the snapshot of `trx`; one stream at a time. */
export async function* streamRows<Row>(trx: Trx, query: RawBuilder<Row>): AsyncGenerator<Row> {
  await sql`declare report_rows no scroll cursor for ${query}`.execute(trx)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsPerFetch)} from report_rows`.execute(trx)
    yield* rows
    if (rows.length < rowsPerFetch) break
  }
  await sql`close report_rows`.execute(trx)
}

/**
 * Reports over any number of operations take a time that grows with these operations alone. PostgreSQL chooses a plan by its
 * statistics, and where these are old or missing it expects one row: it would then read a whole table for each operation. So a
 * transaction forbids certain steps of plans, and names the operations when they are few.
 */

/** A way of joining or grouping that PostgreSQL can be kept from. */
export type PlanStep = 'hashjoin' | 'nestloop' | 'sort'

/** The steps that each transaction currently forbids. */
const avoided = new WeakMap<Trx, ReadonlySet<PlanStep>>()

/** Runs statements that PostgreSQL must not carry out by these steps, nor by the steps of an outer `avoiding`. */
export async function avoiding<Result>(
  trx: Trx,
  steps: readonly PlanStep[],
  run: () => Promise<Result>,
): Promise<Result> {
  const before = avoided.get(trx) ?? new Set()
  const added = steps.filter((step) => !before.has(step))
  if (added.length === 0) return run()
  const set = async (value: 'on' | 'off') => {
    await sql`select ${sql.join(added.map((step) => sql`set_config(${`enable_${step}`}, ${value}, true)`))}`.execute(
      trx,
    )
  }
  await set('off')
  avoided.set(trx, new Set([...before, ...added]))
  const result = await run()
  await set('on')
  avoided.set(trx, before)
  return result
}

/**
 * Returns the request with the ids of its operations if they are few. Its statements then look these up in every table, instead
 * of reading all rows of the vault to find a few.
 */
export async function nameFew<Request extends { filter: OperationFilter }>(
  trx: Trx,
  request: Request,
): Promise<Request> {
  // The query omits the filters that other tables decide: more operations than those of the report do no harm.
  const filter = {
    ...request.filter,
    categories: null,
    categoryKeys: null,
    categoryFields: [],
    approvalPolicyIds: null,
    minimumAmount: null,
    maximumAmount: null,
  }
  const ids = await avoiding(trx, ['nestloop'], async () => {
    const { rows } = await sql<{ id: string }>`
      select o.id from operations o where ${mayBeReported(filter)}
      limit ${reportedOperationsNamedMax + 1}`.execute(trx)
    return rows.map(({ id }) => id)
  })
  if (ids.length > reportedOperationsNamedMax) return request
  return { ...request, filter: { ...request.filter, operationIds: ids } }
}
