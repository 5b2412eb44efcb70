import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const TEMPLATE_IN_USE = '55006'
const ATTEMPTS_MAX = 50
const RETRY_MS = 50

/**
 * Gives a test file its own migrated database: a clone of the template from the set-up of the suite. `drop` removes it and ends
 * sessions that are still open on it.
 */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return cloneDatabase(getSetting('TEST_TEMPLATE_DATABASE'))
}

/**
 * Gives a test file its own migrated database of the wallet service, with a key store for the passphrase of the tests. A key store in
 * production takes a third of a second of CPU to open; this one opens eight times as fast.
 */
export async function createWalletDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return cloneDatabase(getSetting('TEST_WALLET_TEMPLATE_DATABASE'))
}

/** Creates a database without any migration. */
export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return cloneDatabase('template0')
}

async function cloneDatabase(template: string): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = getSetting('TEST_DATABASE_URL')
  const name = `strongroom_test_${randomBytes(8).toString('hex')}`
  await cloneTemplate(adminUrl, template, name)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`) }
}

/**
 * Clones the template. PostgreSQL clones a database only while no session is connected to it, and another worker may be cloning
 * it at the same time.
 */
async function cloneTemplate(adminUrl: string, template: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runAsAdmin(adminUrl, `create database ${name} template ${template} strategy file_copy`)
    } catch (error) {
      if ((error as { code?: string }).code !== TEMPLATE_IN_USE || attempt >= ATTEMPTS_MAX) throw error
      await sleep(RETRY_MS)
    }
  }
}

async function runAsAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function getSetting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; the suite's set-up does that, so run the tests with vitest.`)
  return value
}
