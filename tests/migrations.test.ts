import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../server/src/db/client.ts'
import { createMigrator, migrate } from '../server/src/db/migrate.ts'
import { useRecordKey } from '../server/src/db/record-key.ts'
import { inTransaction } from '../server/src/db/transaction.ts'
import { createRecordKey } from '../server/src/lib/record-key.ts'
import { verifyTransfers } from '../server/src/modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { authenticateRecords } from '../server/src/modules/record/audit/authenticate.ts'
import { verifyAudit } from '../server/src/modules/record/audit/verify.ts'
import { verifyRequests } from '../server/src/modules/rules/approval-requests/compare-request-record.ts'
import { createEmptyDatabase } from '../server/src/testing/database.ts'
import { type Check, checksAfter, checksBefore } from './migrations/checks.ts'
import { firstRelease, type Rows, rowsAfter } from './migrations/rows.ts'
import { statementsOf, touchesWhatWasThere } from './migrations/statements.ts'

const folder = new URL('../server/src/db/migrations/', import.meta.url)
const names = (await readdir(folder))
  .filter((name) => name.endsWith('.sql'))
  .map((name) => name.replace(/\.sql$/, ''))
  .sort()

type Stage = { url: string; client: pg.Client; migrateTo(name: string): Promise<void>; close(): Promise<void> }

async function openStage(): Promise<Stage> {
  const database = await createEmptyDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return {
    url: database.url,
    client,
    async migrateTo(name) {
      const { error } = await createMigrator(db).migrateTo(name)
      if (error !== undefined) throw error
    },
    async close() {
      await client.end()
      await db.destroy()
      await database.drop()
    },
  }
}

async function insertRows(client: pg.Client, rows: Rows): Promise<void> {
  for (const [table, all] of rows) {
    for (const row of all) {
      const columns = Object.keys(row).map((name) => `"${name}"`)
      const places = columns.map((_, index) => `$${index + 1}`)
      await client.query(`insert into ${table} (${columns}) values (${places})`, Object.values(row))
    }
  }
}

async function tablesWithoutPrivileges(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
     and relname not like 'schema\\_%' and not (has_table_privilege('strongroom_app', oid, 'select')
       and has_table_privilege('strongroom_app', oid, 'insert'))`,
  )
  return rows.map(({ name }) => name)
}

/** Returns the first violation, or null. Changes nothing, also within a transaction. */
async function faultOf(client: pg.Client, check: Check): Promise<string | null> {
  if ('query' in check) {
    const { rows } = await client.query(check.query)
    if (isDeepStrictEqual(structuredClone(rows), check.finds)) return null
    return `${check.query} finds ${JSON.stringify(rows)}, not ${JSON.stringify(check.finds)}`
  }
  await client.query('savepoint before_check')
  const refusedBy = await client.query(check.statement).then(
    () => null,
    (error: pg.DatabaseError) => error.constraint ?? error.message,
  )
  await client.query('rollback to before_check')
  return refusedBy === check.refusedBy ? null : `${check.statement} is refused by ${refusedBy}, not ${check.refusedBy}`
}

async function faultsOf(client: pg.Client, checks: Check[]): Promise<string[]> {
  const faults: string[] = []
  for (const check of checks) {
    const fault = await faultOf(client, check).catch((error: Error) => error.message)
    if (fault !== null) faults.push(fault)
  }
  return faults
}

/** Runs something in a transaction that is rolled back. */
async function undone<T>(client: pg.Client, run: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    return await run()
  } finally {
    await client.query('rollback')
  }
}

describe('each migration, applied to the rows of the one before', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.close())

  // In order, on one database: each test continues from the state of the one before.
  it.each(names)('%s', async (name) => {
    const { client } = stage
    expect(await undone(client, () => faultsOf(client, checksBefore[name] ?? []))).toEqual([])
    const statements = statementsOf(await readFile(new URL(`${name}.sql`, folder), 'utf8'))
    const needed = statements.filter((statement) => touchesWhatWasThere(statement, statements))
    for (const left of needed) {
      const isMissed = await undone(client, async () => {
        const rest = statements.filter((statement) => statement !== left)
        const isApplied = await client.query(rest.join(';\n')).then(
          () => true,
          () => false,
        )
        return !isApplied || (await faultsOf(client, checksAfter[name] ?? [])).length > 0
      })
      expect(isMissed, `no check fails without: ${left}`).toBe(true)
    }
    await stage.migrateTo(name)
    // A trigger may write to a new table before all privileges are given.
    expect(await tablesWithoutPrivileges(client)).toEqual([])
    expect(await undone(client, () => faultsOf(client, checksAfter[name] ?? []))).toEqual([])
    await insertRows(client, rowsAfter[name] ?? [])
  })

  it('has rows in every table', async () => {
    const { rows } = await stage.client.query<{ name: string }>(
      `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'schema\\_%' order by 1`,
    )
    const empty: string[] = []
    for (const { name } of rows) {
      const { rowCount } = await stage.client.query(`select from ${name} limit 1`)
      if (rowCount === 0) empty.push(name)
    }
    expect(rows.length).toBeGreaterThan(40)
    expect(empty).toEqual([])
  })

  it('names only migrations that there are', () => {
    const named = [checksBefore, checksAfter, rowsAfter].flatMap((table) => Object.keys(table))
    expect(named.filter((name) => !names.includes(name))).toEqual([])
  })
})

it('a network of Litecoin gets its type if all its addresses are addresses of Litecoin', async () => {
  const stage = await openStage()
  const { client } = stage
  try {
    await stage.migrateTo('0109-payers-of-fees')
    const migration = await readFile(new URL('0110-litecoin.sql', folder), 'utf8')
    const typeWith = (...addresses: string[]) =>
      undone(client, async () => {
        await client.query('set local session_replication_role = replica')
        await client.query(
          `insert into networks (id, coin_type, code, slug, name, type, created_at, updated_at)
          values ('n2', 2, 'ltc', 'ltc', 'Litecoin', 'other', now(), now())`,
        )
        for (const address of addresses) {
          await client.query(
            `insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at)
            values ('v1', $1, 'z1', 'n2', $1, $1, now())`,
            [address],
          )
        }
        await client.query('set local session_replication_role = origin')
        await client.query(migration)
        const { rows } = await client.query<{ type: string }>('select type from networks')
        return rows[0]!.type
      })
    const right = [
      'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQF',
      'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1',
      'MVDCJxZd4A5VUm81QmeC1qf6U7LASsr7LT',
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      'ltc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qmu8tk5',
      'ltc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpj6zg2',
    ]
    expect(await typeWith(...right)).toBe('litecoin')
    const wrong = [
      'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQG',
      'LUEweDxDA4WhvWiNXXSxjM9CYzHPJv4QQ',
      'MVDCJxZd4A5VUm81QmeC1qf6U7LASsr7LM',
      '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
      'LTC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KGMN4N9',
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8',
      'ltc1pw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'cold wallet',
    ]
    for (const address of wrong) expect(await typeWith(right[0]!, address), address).toBe('other')
    expect(await typeWith()).toBe('litecoin')
  } finally {
    await stage.close()
  }
})

it('the first release is brought up to this version, and its books and its record are found to be sound', async () => {
  const stage = await openStage()
  try {
    await stage.migrateTo(firstRelease)
    await insertRows(stage.client, rowsAfter[firstRelease]!)
    await migrate(stage.url)
    const { db } = openDatabase({ url: stage.url, onError: () => {} })
    try {
      // The first start of the service authenticates the records.
      const key = createRecordKey('a key of this version that is long enough')
      useRecordKey(db, key)
      expect(await inTransaction(db, (trx) => authenticateRecords(trx, { from: null, to: key }))).toBe(5)
      expect(await verifyLedger(db)).toEqual({ differences: [], checked: { accounts: 6, entries: 8, operations: 4 } })
      expect(await verifyAudit(db)).toMatchObject([{ chain: 'v1', sealedRecords: 2, unsealedRecords: 3, fault: null }])
      expect(await verifyTransfers(db)).toEqual({ checked: 2, differences: [] })
      expect(await verifyRequests(db)).toEqual({ checked: 1, differences: [] })
    } finally {
      await db.destroy()
    }
  } finally {
    await stage.close()
  }
})

it.each(['server/src/db/migrations/', 'wallet/src/migrations/'])(
  'a landed migration of %s was never edited',
  async (path) => {
    const directory = new URL(`../${path}`, import.meta.url)
    const sums = (await readdir(directory))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .map(
        async (name) =>
          `${createHash('sha256')
            .update(await readFile(new URL(name, directory)))
            .digest('hex')}  ${name}\n`,
      )
    const landed = await readFile(new URL('landed.sha256', directory), 'utf8')
    expect((await Promise.all(sums)).join(''), 'write a new migration instead; a new one gets its line here').toBe(
      landed,
    )
  },
)
