import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { assertLocksExclude } from './lock-check.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

it('accepts a database whose locks keep a second session out', async () => {
  await expect(assertLocksExclude(database.url)).resolves.toBeUndefined()
})

it('refuses a database that gives one lock to two sessions', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('create schema lenient')
  await client.query(
    'create function lenient.pg_try_advisory_xact_lock(bigint) returns boolean language sql as $$ select true $$',
  )
  await client.end()
  const url = new URL(database.url)
  url.searchParams.set('options', '-c search_path=lenient,pg_catalog')
  await expect(assertLocksExclude(url.href)).rejects.toThrow('gave an advisory lock to two sessions at once')
})
