import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../server/src/db/migrate.ts'
import { startEmbeddedPostgres } from '../../server/src/embedded-postgres/start.ts'
import { watchDirectory } from '../../server/src/testing/cleanup.ts'
import { migrate as migrateSchemaWallet } from '../../wallet/src/database/migrate.ts'
import { openKeyring } from '../../wallet/src/keys/keyring.ts'
import { testPassphrase } from '../../wallet/src/testing/database.ts'

const memoryBytesMin = 4 * 1024 ** 3

/** The lowest cost that the wallet service takes. */
const cheapScryptCost = 2 ** 14

/**
 * Gives the whole suite one PostgreSQL with two migrated template databases, of the service and of the wallet service, which the
 * tests clone. Set TEST_DATABASE_URL to an administrator's URL to run the suite against another PostgreSQL, 15 or newer.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const outside = process.env.TEST_DATABASE_URL
  const server = outside ? { url: outside, stop: async () => {} } : await startThrowAwayServer()
  try {
    const template = await makeTemplate(server.url, 'strongroom', (url) => migrate(url))
    const walletTemplate = await makeTemplate(server.url, 'wallet', migrateWallet)
    process.env.TEST_DATABASE_URL = server.url
    process.env.TEST_TEMPLATE_DATABASE = template
    process.env.TEST_WALLET_TEMPLATE_DATABASE = walletTemplate
    return async () => {
      if (outside === undefined) delete process.env.TEST_DATABASE_URL
      else {
        for (const name of [template, walletTemplate])
          await runAsAdmin(server.url, `drop database if exists ${name} with (force)`)
      }
      delete process.env.TEST_EMPTY_CLUSTER
      delete process.env.TEST_TEMPLATE_DATABASE
      delete process.env.TEST_WALLET_TEMPLATE_DATABASE
      await server.stop()
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function startThrowAwayServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const root = mkdtempSync(join(fastFolder(), 'strongroom-test-'))
  const cleanup = watchDirectory(root)
  const discard = () => {
    rmSync(root, { recursive: true, force: true })
    cleanup.dismiss()
  }
  try {
    const dataDir = join(root, 'data')
    await (await startEmbeddedPostgres({ dataDir, fast: true })).stop()
    process.env.TEST_EMPTY_CLUSTER = copyCluster(dataDir, join(root, 'empty'))
    const server = await startEmbeddedPostgres({ dataDir, fast: true })
    return { url: server.url, stop: () => server.stop().finally(discard) }
  } catch (error) {
    discard()
    throw error
  }
}

/**
 * Returns a folder in memory if there is enough memory: every test file clones a database, and the cluster is deleted
 * in any case.
 */
function fastFolder(): string {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= memoryBytesMin ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** The cluster that `copyEmptyCluster` copies; a server must be stopped while its files are copied. */
function copyCluster(dataDir: string, destination: string): string {
  mkdirSync(destination, { mode: 0o700 })
  for (const name of ['postgres', 'postgres-password']) {
    cpSync(join(dataDir, name), join(destination, name), { recursive: true })
  }
  return destination
}

async function makeTemplate(adminUrl: string, name: string, fill: (url: string) => Promise<unknown>): Promise<string> {
  const template = `${name}_template_${randomBytes(6).toString('hex')}`
  await runAsAdmin(adminUrl, `create database ${template}`)
  const url = new URL(adminUrl)
  url.pathname = `/${template}`
  await fill(url.href)
  return template
}

async function migrateWallet(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url })
  try {
    await migrateSchemaWallet(pool)
    await openKeyring(pool, testPassphrase, cheapScryptCost)
  } finally {
    await pool.end()
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
