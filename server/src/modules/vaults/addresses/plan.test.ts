import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AddressScope, addressScopeOf, type Viewer } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import type { DB } from '../../../db/types.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'
import { listAccounts, listTotals } from '../../money/ledger/queries.ts'
import { listAddresses } from './queries.ts'

const owners = 200
const addressesOfOwner = 100
/** The number of addresses that are shared with the reader by grants, and as many by a folder. */
const sharedEach = 15
const limit = 20
/** The tables that grow with the vault here; the others fit into a page or two. */
const large = ['addresses', 'ledger_accounts', 'address_grants', 'address_group_members']

let test: TestApp
let vault: VaultFixture
let pool: pg.Pool
let db: Db
let reader: Viewer
const statements: { sql: string; parameters: readonly unknown[] }[] = []

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  pool = new pg.Pool({ connectionString: test.databaseUrl, max: 1 })
  pool.on('error', () => {})
  db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      statements.push({ sql: query.sql, parameters: query.parameters })
    },
  })
  await fill()
  const everyone = vault.groups.everyone
  reader = { userId: ownerId(1), readsAll: false, groupIds: [everyone], vault: { id: vault.id } }
})
afterAll(async () => {
  await pool.end()
  await test.close()
})

/** Returns a text in the form of an id: `c` and 24 more characters. */
const ownerId = (number: number) => `cowner${String(number).padStart(19, '0')}`

/** 20,000 addresses of 200 owners, in mixed order, with two ledger accounts each; a few of them shared with the reader. */
async function fill(): Promise<void> {
  const { rows } = await pool.query('select id from networks limit 1')
  const network = rows[0].id
  const run = (text: string, ...values: unknown[]) => pool.query(text, values)
  await run(
    `insert into users (id, email, created_at, updated_at)
     select 'cowner' || lpad(n::text, 19, '0'), n || '@example.org', now(), now() from generate_series(1, $1::int) n`,
    owners,
  )
  await run(
    `insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index,
       segments, owner_id, token_id, label, created_at, updated_at)
     select $1, 'caddress' || lpad(n::text, 17, '0'), $2, 'address ' || n, 'address ' || n, 'm/44/60/1/' || n, 'm/44/60/1', n,
       '{"purpose": 1}', 'cowner' || lpad((1 + n % $3::int)::text, 19, '0'), $4, 'Label ' || n, now() - n * interval '1 second', now()
     from generate_series(1, $3::int * $5::int) n`,
    vault.id,
    network,
    owners,
    vault.tokens.usdt.id,
    addressesOfOwner,
  )
  await run(
    `insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
     select a.vault_id, 'c' || substr(md5(a.id || p), 1, 24), a.token_id, a.id, p, 1, a.created_at
     from addresses a, unnest(array['available', 'reserved']) p where a.vault_id = $1`,
    vault.id,
  )
  // Every tenth address has a grant. The reader has few of the grants, and sees one of many folders.
  const granted = (number: number) => `'caddress' || lpad((${number} + n * 10)::text, 17, '0')`
  await run(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
     select $1, 'cgrant' || lpad(n::text, 19, '0'), ${granted(7)}, 'user',
       'cowner' || lpad((case when n <= $2 then 1 else 2 + n % 150 end)::text, 19, '0'), true, false, 'x', now()
     from generate_series(1, 1900) n`,
    vault.id,
    sharedEach,
  )
  await run(
    `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at)
     select $1, 'cfolder' || lpad(n::text, 18, '0'), 'Folder', 'cowner' || lpad((1 + n)::text, 19, '0'), now(), now()
     from generate_series(1, 100) n`,
    vault.id,
  )
  await run(
    `insert into address_group_members (vault_id, group_id, address_id, created_at)
     select $1, 'cfolder' || lpad((1 + (n - 1) / $2::int)::text, 18, '0'), ${granted(3)}, now()
     from generate_series(1, $2::int * 100) n`,
    vault.id,
    sharedEach,
  )
  await run(
    `insert into address_group_grants (vault_id, id, group_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
     select $1, 'cgrant' || lpad(n::text, 19, '0'), 'cfolder' || lpad(n::text, 18, '0'),
       case when n = 1 then 'group' else 'user' end,
       case when n = 1 then $2 else 'cowner' || lpad((2 + n)::text, 19, '0') end, true, true, 'x', now()
     from generate_series(1, 100) n`,
    vault.id,
    vault.groups.everyone,
  )
  await run(`vacuum analyze ${[...large, 'address_groups', 'address_group_grants', 'users'].join(', ')}`)
}

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/**
 * Runs the statement of `work` and explains it. Returns the number of its rows, the number of rows of large tables that it
 * discarded, the number of pages that it read, and the large tables that it scanned whole.
 */
async function explain<Row>(
  work: (db: Db) => Promise<Row[]>,
): Promise<{ rows: number; discarded: number; buffers: number; scans: string[] }> {
  statements.length = 0
  const rows = (await work(db)).length
  expect(statements).toHaveLength(1)
  const { sql, parameters } = statements[0]!
  const explained = await pool.query(`explain (analyze, buffers, format json) ${sql}`, [...parameters])
  const root: Plan = explained.rows[0]['QUERY PLAN'][0].Plan
  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
  // A plan can contain nodes that never run, such as the sum over the vault for its own accounts. They are not counted as scans.
  const scanned = nodes(root).filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
  const scans = scanned.map((node) => node['Relation Name'] ?? '').filter((table) => large.includes(table))
  const ofLarge = nodes(root).filter((node) => large.includes(node['Relation Name'] ?? ''))
  const discarded = ofLarge.map((node) => (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'])
  return {
    rows,
    discarded: discarded.reduce((sum, rows) => sum + rows, 0),
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    scans,
  }
}

const list =
  (scope: AddressScope, filter = {}) =>
  (on: Db) =>
    listAddresses(on, scope, filter, { after: null, limit })

describe('20,000 addresses of 200 owners', () => {
  it.each([
    ['own', { access: 'own' }, limit + 1],
    ['shared', { access: 'shared' }, limit + 1],
    ['all', { access: 'all' }, limit + 1],
    ['a folder', { folderId: 'cfolder000000000000000001' }, sharedEach],
  ] as const)('the first page of %s reads a few blocks per row, and never the whole vault', async (_, wanted, rows) => {
    const found = await explain(list(addressScopeOf(reader, wanted)))
    expect(found.rows).toBe(rows)
    expect(found.scans).toEqual([])
    expect(found.discarded).toBeLessThanOrEqual(2 * found.rows)
    expect(found.buffers / found.rows).toBeLessThan(30)
  })

  it('a later page costs no more than the first', async () => {
    const scope = addressScopeOf(reader, { access: 'all' })
    const all = await listAddresses(db, scope, {}, { after: null, limit: 99 })
    const last = all.at(-1)!
    const after = { createdAt: last.created_at, id: last.id }
    const found = await explain((on) => listAddresses(on, scope, {}, { after, limit }))
    expect(found.rows).toBe(limit + 1)
    expect(found.scans).toEqual([])
    expect(found.discarded).toBeLessThanOrEqual(2 * found.rows)
    expect(found.buffers / found.rows).toBeLessThan(30)
  })

  it('the first page of an administrator follows an index', async () => {
    const found = await explain(list(addressScopeOf({ ...reader, readsAll: true })))
    expect(found.rows).toBe(limit + 1)
    expect(found.scans).toEqual([])
    expect(found.discarded).toBeLessThanOrEqual(2 * found.rows)
    expect(found.buffers / found.rows).toBeLessThan(30)
  })

  it.each([
    ['own', { includeShared: false }, addressesOfOwner],
    ['all', { includeShared: true }, addressesOfOwner + 2 * sharedEach],
  ] as const)(
    'the balances of %s read a few blocks per address, and never the whole vault',
    async (_, wanted, count) => {
      const scope = addressScopeOf(reader, wanted)
      const filter = { addressId: null, token: null }
      const totals = await listTotals(db, scope, filter, new Date())
      expect(totals.map(({ available, reserved }) => [available, reserved])).toEqual([[String(count), String(count)]])
      for (const work of [
        (on: Db) => listTotals(on, scope, filter, new Date()),
        (on: Db) => listAccounts(on, scope, { ...filter, purpose: null, after: null, limit }),
      ]) {
        const { scans, buffers, discarded } = await explain<unknown>(work)
        expect(scans).toEqual([])
        expect(discarded).toBe(0)
        expect(buffers / count).toBeLessThan(10)
      }
    },
  )
})
