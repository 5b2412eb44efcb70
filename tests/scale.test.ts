import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../server/src/testing/database.ts'

/*
 * docs/scale.md lists what spans vaults, with its reason and its remedy: what a database that is divided by vault would have to
 * solve. The catalogue of the database and the code are compared with the list, so that nothing new spans vaults unseen.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** The first column of the table below a heading. Each row must have a reason and a remedy. */
async function listed(heading: string): Promise<string[]> {
  const page = await readFile(join(root, 'docs/scale.md'), 'utf8')
  const part = page.split(`\n### ${heading}\n`)[1]?.split('\n#')[0]
  if (part === undefined) throw new Error(`docs/scale.md has no part "${heading}"`)
  const rows = part.split('\n').filter((line) => line.startsWith('| `'))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  for (const [name, reason, remedy] of cells) expect([reason, remedy], name).not.toContain('')
  return cells.flatMap(([names]) => names!.replaceAll('`', '').split(', ')).sort()
}

async function namesOf(query: string): Promise<string[]> {
  const { rows } = await client.query(query)
  return rows.map(({ name }) => name).sort()
}

const tables = `
  select c.oid, c.relname, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname in ('vault_id', 'chain')) as has_vault
  from pg_class c where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`

it('lists each table without a vault', async () => {
  expect(await namesOf(`select relname as name from (${tables}) t where not has_vault`)).toEqual(
    await listed('Tables without a vault'),
  )
})

it('lists each unique key without a vault, of the tables that have it', async () => {
  const found = await namesOf(`
    select i.relname as name from (${tables}) t
    join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid
    where x.indisunique and (has_vault or t.relname = 'vaults') and not exists (
      select from pg_attribute a where a.attrelid = t.oid and a.attnum = any(x.indkey) and a.attname in ('vault_id', 'chain'))`)
  expect(found).toEqual(await listed('Unique keys without a vault'))
})

it('lists each sequence', async () => {
  const found = await namesOf(
    `select relname as name from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace`,
  )
  expect(found).toEqual(await listed('Sequences'))
})

/** The files of the service with the text, without tests; migrations are covered by the catalogue. */
async function filesWith(text: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(join(root, 'server/src'), { recursive: true })) {
    if (!entry.endsWith('.ts') || /\.test\.ts$|^testing\//.test(entry)) continue
    if (text.test(await readFile(join(root, 'server/src', entry), 'utf8'))) found.push(entry)
  }
  return found.sort()
}

it('lists each place of the code that takes an advisory lock', async () => {
  const inDatabase = await namesOf(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosrc ~ 'pg_(try_)?advisory'`,
  )
  const inCode = await filesWith(/pg_(try_)?advisory_(xact_)?lock/)
  expect([...inCode, ...inDatabase].sort()).toEqual(await listed('Advisory locks'))
})

it('lists each claim', async () => {
  expect(await filesWith(/skip locked|db\/claim\.ts/i)).toEqual(await listed('Claims'))
})
