import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Db } from '../../server/src/db/client.ts'
import type { DB } from '../../server/src/db/types.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { findEntryAt, listStatement } from '../../server/src/modules/money/ledger/queries.ts'
import type { Run } from './run.ts'

const smallCount = 1_000
const perInsert = 500_000

/**
 * Measures the buffers that a page of a statement and a past balance read, for an account with few postings and for an
 * account with very many. Must be the last measurement: its postings are inserted by SQL and do not match the balances.
 */
export async function measureStatement(run: Run, largeCount: number): Promise<void> {
  const { record } = run
  const beganAt = new Date('2026-01-01T00:00:00.000Z')
  const small = await makeAccount(run, smallCount, beganAt)
  const smallAtFirst = await buffersOf(run, small, middleOf(beganAt, smallCount))
  const large = await makeAccount(run, largeCount, beganAt)
  const [ofSmall, ofLarge] = [
    await buffersOf(run, small, middleOf(beganAt, smallCount)),
    await buffersOf(run, large, middleOf(beganAt, largeCount)),
  ]
  for (const [name, of] of [
    ['page of 50', 'page'],
    ['page of 50 from the middle', 'pastPage'],
    ['balance in the middle', 'balance'],
  ] as const) {
    record.add(`buffers of a ${name}, ${smallCount} postings`, '', ofSmall[of])
    record.add(`  before the other account grew`, '', smallAtFirst[of])
    record.add(`  ${largeCount.toLocaleString('en-US')} postings`, '', ofLarge[of])
    record.expect('statement', ofLarge[of] / ofSmall[of], name)
  }
}

const middleOf = (beganAt: Date, count: number) => new Date(beganAt.getTime() + count / 2)

/** Creates an account with `count` deposits, a millisecond apart. */
async function makeAccount({ stack, world }: Run, count: number, beganAt: Date): Promise<string> {
  const [account] = await stack.sql<{ number: string }>(
    `insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
     values ($1, $2, $3, $2, 'available', 0, now()) returning number`,
    [world.vault.id, newId(), world.usdt.id],
  )
  for (let first = 1; first <= count; first += perInsert) {
    await stack.sql(
      `insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
       select $1, 'deposit', $2, $3 || '-' || lpad(i::text, 12, '0'), $3::bigint, 1, i, $4::timestamptz + i * interval '1 ms'
       from generate_series($5::int, $6::int) i`,
      [world.vault.id, world.usdt.id, account!.number, beganAt, first, Math.min(first + perInsert - 1, count)],
    )
  }
  await stack.sql('vacuum analyze ledger_entries')
  return account!.number
}

type Buffers = { page: number; pastPage: number; balance: number }

/** Returns the buffers that the service's own queries read, as EXPLAIN counts them. */
async function buffersOf({ stack }: Run, accountNumber: string, middle: Date): Promise<Buffers> {
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 })
  let lastQuery: CompiledQuery | null = null
  const db: Db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      lastQuery = query
    },
  })
  const count = async (read: () => Promise<unknown>) => {
    await read()
    const { sql, parameters } = lastQuery!
    const { rows } = await pool.query(`explain (analyze, buffers, format json) ${sql}`, [...parameters])
    const { Plan: plan } = rows[0]['QUERY PLAN'][0]
    return (plan['Shared Hit Blocks'] + plan['Shared Read Blocks']) as number
  }
  const page = { accountNumber, from: null, before: null, limit: 50 }
  try {
    return {
      page: await count(() => listStatement(db, { ...page, to: null })),
      pastPage: await count(() => listStatement(db, { ...page, to: middle })),
      balance: await count(() => findEntryAt(db, accountNumber, middle)),
    }
  } finally {
    await db.destroy()
  }
}
