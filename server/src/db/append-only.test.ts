import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../testing/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

/** The tables on whose rows the role of the service lacks a privilege: the columns that it may update, and true if it may delete rows. */
const restricted: Record<string, { columns: string[]; deletes: boolean }> = {
  account_keys: { columns: [], deletes: false },
  adjustments: { columns: [], deletes: false },
  audit_records: { columns: ['mac', 'seal_sequence'], deletes: false },
  audit_seals: { columns: [], deletes: false },
  deposit_orphans: { columns: ['returned_at'], deletes: false },
  exposure_covers: { columns: [], deletes: false },
  holds: {
    columns: ['confirmed_at', 'confirmed_by_id', 'release_reason', 'released_at', 'released_by_id', 'reserved'],
    deletes: false,
  },
  ledger_entries: { columns: [], deletes: false },
  ledger_seals: { columns: [], deletes: false },
  rules_versions: { columns: [], deletes: false },
  schema_migrations: { columns: [], deletes: false },
  schema_migrations_lock: { columns: [], deletes: false },
  screenings: { columns: ['all'], deletes: false },
  sealing_key: { columns: ['all'], deletes: false },
  service_keys: { columns: ['all'], deletes: false },
  signed_votes: { columns: [], deletes: false },
  wallet_events: {
    columns: ['deposit_id', 'outcome', 'quarantine_key', 'quarantined', 'reason', 'vault_id'],
    deletes: false,
  },
}

test('T8 rows stay as they were written: the role of the service changes and deletes only the listed columns and tables', async () => {
  const { rows } = await sql<{ name: string; columns: string[]; deletes: boolean }>`
    select c.relname as name, has_table_privilege('strongroom_app', c.oid, 'delete')
      or has_table_privilege('strongroom_app', c.oid, 'truncate') as deletes,
      case when has_table_privilege('strongroom_app', c.oid, 'update') then array['all'] else array(
        select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and has_column_privilege('strongroom_app', c.oid, a.attnum, 'update') order by 1) end as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where c.relkind in ('r', 'p') order by 1`.execute(app.deps.db)
  const found = rows.filter(({ columns, deletes }) => !deletes || columns[0] !== 'all')
  expect(Object.fromEntries(found.map(({ name, ...may }) => [name, may]))).toEqual(restricted)
})
