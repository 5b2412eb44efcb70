import { randomBytes } from 'node:crypto'
import pg from 'pg'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** A fresh database in the server of TEST_DATABASE_URL, which the set-up of the suite starts. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (!serverUrl)
    throw new Error('TEST_DATABASE_URL is not set; the set-up of the suite does that. Run the tests with vitest.')
  const name = `wallet_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `create database ${name} strategy file_copy`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(serverUrl, `drop database if exists ${name} with (force)`) }
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
