import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyLedger } from '../modules/money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../modules/money/verifications/verify-seals.ts'
import { sealAuditRecords } from '../modules/record/audit/audit-seals.ts'
import { verifyAudit } from '../modules/record/audit/verify.ts'
import { type Coverage, coverage } from '../testing/column-coverage.ts'
import { databaseOf } from '../testing/one-transaction.ts'
import { operate } from '../testing/operated-vault.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { stateKinds, verifyState } from './verify-state.ts'

let bench: TransferBench
beforeAll(async () => {
  bench = await createTransferBench()
  await operate(bench)
  await sealAuditRecords(bench.test.deps)
})
afterAll(() => bench.close())

type Column = { table: string; column: string; type: string }
type Query = TransferBench['sql']

const listColumns = (): Promise<Column[]> =>
  bench.sql(`
    select c.table_name as "table", c.column_name as "column", c.data_type as type
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name not like 'schema\\_%'
      and c.is_generated = 'NEVER'`)

const words = (text = ''): string[] => text.split(' ').filter((word) => word !== '')

describe('T57 every column of the database', () => {
  it('T57 is compared with the audit records, or is listed with the reason why it is not', async () => {
    const listed = Object.entries(coverage).flatMap(([table, { compared, notCovered }]) =>
      [compared, ...Object.values(notCovered)].flatMap(words).map((column) => `${table}.${column}`),
    )
    const columns = (await listColumns()).map(({ table, column }) => `${table}.${column}`)
    expect(listed.toSorted()).toEqual(columns.toSorted())
    for (const { comparedIn } of Object.values(coverage))
      if (comparedIn !== undefined)
        expect(existsSync(new URL(`../${comparedIn}`, import.meta.url)), comparedIn).toBe(true)
  })

  const compared = Object.entries(coverage).filter(([, table]) => table.compared !== undefined)

  it.each(compared)(
    'T57 is named by the verifier when the owner of the database changes it: %s',
    async (name, table) => {
      const columns = (await listColumns()).filter(({ table: of }) => of === name)
      const missed = await bench.rolledBack(async (query) => {
        await prepare(query, name)
        expect(await isNamed(query, table), `${name} as it is`).toBe(false)
        const unnamed: string[] = []
        for (const column of words(table.compared)) {
          const { type } = columns.find((candidate) => candidate.column === column)!
          if (!(await isNamedOnceChanged(query, table, { table: name, column, type }))) unnamed.push(column)
        }
        return unnamed
      })
      expect(missed).toEqual([])
    },
  )
})

describe('T57 a value that the service cannot read', () => {
  const odd = ['"x"', '1.5', 'null', '{}', '[null]', '[{"selectors": 5}]', '[{"selectors": [7]}]']
  /** Columns of text that the service reads as JSON. */
  const texts = ['audit_records.content', 'wallet_events.body']

  it('T57 is named with its row, and the rest is verified all the same', async () => {
    const columns = (await listColumns()).filter(
      ({ table, column, type }) => type === 'jsonb' || texts.includes(`${table}.${column}`),
    )
    expect(columns.length).toBeGreaterThan(texts.length)
    await bench.rolledBack(async (query) => {
      for (const table of new Set(columns.map(({ table: name }) => name))) await prepare(query, table)
      for (const { table, column, type } of columns) {
        const { by = [], compared: names } = coverage[table]!
        const isCompared = typeof by !== 'string' && words(names).includes(column)
        const kinds = typeof by === 'string' ? stateKinds : by
        for (const value of type === 'jsonb' ? odd : [...odd, '{', '']) {
          await query('savepoint odd')
          await query(`update ${table} set "${column}" = $1`, [value])
          const db = databaseOf(query, bench.test.deps.db)
          const { checked, differences } = await verifyState(db, [...kinds, 'users'])
          expect(checked.users).toBe(10)
          // The service reads the JSON null as a missing value.
          if (isCompared && value !== 'null') expect(differences, `${table}.${column} = ${value}`).not.toEqual([])
          await query('rollback to savepoint odd')
        }
      }
    })
  })

  it('T57 is named by the id of its policy', async () => {
    const [{ id }] = await bench.sql(`select id from policies where code = 'large'`)
    for (const value of odd) {
      const differences = await bench.rolledBack(async (query) => {
        await prepare(query, 'policies')
        await query('update policies set rules = $1 where id = $2', [value, id])
        return (await verifyState(databaseOf(query, bench.test.deps.db))).differences
      })
      expect(differences, value).toContainEqual(expect.objectContaining({ targetType: 'policy', targetId: id }))
    }
  })
})

/** Removes triggers and constraints, so that only the verifier can notice a change of the table. */
async function prepare(query: Query, table: string): Promise<void> {
  // A hash of a transfer makes rows of this table.
  if (table === 'transfer_hashes') await query(`update operations set tx_hash = '0x' || id where type = 'transfer'`)
  await query('set local session_replication_role = replica')
  const checks = await query(
    `select conname from pg_constraint where contype in ('c', 'f') and conrelid = '${table}'::regclass`,
  )
  for (const { conname } of checks) await query(`alter table ${table} drop constraint ${conname}`)
}

/** Returns true when a change of the column is named in at least one of ten rows: not every row has a value that is compared. */
async function isNamedOnceChanged(query: Query, table: Coverage, column: Column): Promise<boolean> {
  const rows = await query(`select ctid::text as row from ${column.table} order by ctid desc limit 10`)
  for (const { row } of rows) {
    await query('savepoint before')
    await query(`update ${column.table} set "${column.column}" = ${another(column)} where ctid = '${row}'`)
    const isFound = await isNamed(query, table)
    await query('rollback to savepoint before')
    if (isFound) return true
  }
  return false
}

async function isNamed(query: Query, { by = [] }: Coverage): Promise<boolean> {
  const db = databaseOf(query, bench.test.deps.db)
  if (by === 'audit') return (await verifyAudit(db)).some(({ fault }) => fault !== null)
  if (by !== 'ledger') return (await verifyState(db, by)).differences.length > 0
  const seals = await verifyLedgerSeals(db)
  return (await verifyLedger(db)).differences.length > 0 || seals.some(({ fault }) => fault !== null)
}

/** SQL: returns a value that differs from the value of the column. */
function another({ column, type }: Column): string {
  const name = `"${column}"`
  if (type === 'boolean') return `not ${name}`
  if (type === 'jsonb') {
    const item = '[{"conditionType": "require", "selectors": [], "groupId": "x", "threshold": 1}]'
    return `case when ${name} is null or ${name} = '[]' then '${item}'::jsonb else '[]' end`
  }
  if (type === 'bytea') return `'\\x00'`
  if (type === 'ARRAY') return `${name}[2:]`
  if (type.startsWith('timestamp')) return `case when ${name} is null then now() else ${name} + interval '1 hour' end`
  if (['integer', 'smallint', 'bigint', 'numeric'].includes(type)) return `coalesce(${name}, 0) + 1000`
  return `coalesce(${name}, '') || 'x'`
}
