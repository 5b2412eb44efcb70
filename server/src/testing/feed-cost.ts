import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Db } from '../db/client.ts'
import type { DB } from '../db/types.ts'

export type FeedCost = {
  buffers: number
  milliseconds: number
  seqScans: string[]
  indexes: string[]
  /** The number of rows that were read along each used index. */
  rowsOf: Record<string, number>
  statements: number
}

/**
 * Returns a meter that runs a read and returns the total cost of its statements, as PostgreSQL counts it: 8 kB buffers touched,
 * time, tables that were scanned, and used indexes. Every statement is explained in a second run, in the same order and
 * session.
 */
export function createCostMeter(url: string) {
  const ran: CompiledQuery[] = []
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  // The server may stop before the last connection has closed. A failed query rejects anyway.
  pool.on('error', () => {})
  const db: Db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: (event) => {
      ran.push(event.query as CompiledQuery)
    },
  })
  return {
    db,
    close: () => db.destroy(),
    async measure<Result>(read: (db: Db) => Promise<Result>): Promise<{ result: Result; cost: FeedCost }> {
      ran.length = 0
      const result = await read(db)
      const cost: FeedCost = {
        buffers: 0,
        milliseconds: 0,
        seqScans: [],
        indexes: [],
        rowsOf: {},
        statements: ran.length,
      }
      const client = await pool.connect()
      try {
        for (const { sql, parameters } of [...ran]) {
          if (!/^(\/\* prepared \*\/)?\s*(select|with)/i.test(sql)) await client.query(sql)
          else add(cost, await explain(client, sql, parameters))
        }
      } finally {
        client.release()
      }
      return { result, cost }
    },
  }
}

type Explained = { 'QUERY PLAN': { Plan: Node; 'Execution Time': number }[] }[]

/**
 * Explains a statement. A prepared statement is explained as such, because it may have another plan than for its parameters
 * alone.
 */
async function explain(client: pg.ClientBase, sql: string, parameters: readonly unknown[]): Promise<Explained> {
  const mode = 'explain (analyze, buffers, timing off, format json)'
  if (!sql.startsWith('/* prepared */')) return (await client.query(`${mode} ${sql}`, [...parameters])).rows
  await client.query(`prepare explained as ${sql}`)
  const { rows } = await client.query(`${mode} execute explained (${parameters.map(literalOf).join(', ')})`)
  await client.query('deallocate explained')
  return rows
}

function literalOf(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((item) => JSON.stringify(item)).join()}}` : String(value),
  )
}

type Node = { [name: string]: unknown; Plans?: Node[] }

function add(cost: FeedCost, rows: Explained): void {
  const { Plan: plan, 'Execution Time': milliseconds } = rows[0]!['QUERY PLAN'][0]!
  cost.buffers += Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
  cost.milliseconds += milliseconds
  for (const node of nodesOf(plan)) {
    if (node['Node Type'] === 'Seq Scan') cost.seqScans.push(String(node['Relation Name']))
    if (node['Index Name'] === undefined) continue
    const index = String(node['Index Name'])
    cost.indexes.push(index)
    cost.rowsOf[index] = (cost.rowsOf[index] ?? 0) + Number(node['Actual Rows']) * Number(node['Actual Loops'])
  }
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
