import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../../server/src/embedded-postgres/start.ts'
import { watchDirectory } from '../../../server/src/testing/cleanup.ts'
import { inTransaction } from './in-transaction.ts'
import { isDatabaseDown } from './is-database-down.ts'
import { openPool } from './open-pool.ts'
import { UnconfirmedCommitError } from './unconfirmed-commit.ts'
import { waitForDatabase } from './wait-for-database.ts'

const closing: (() => unknown)[] = []
let url: string
let admin: pg.Client
let pool: pg.Pool
const lines: string[] = []
const log = pino({}, { write: (line) => lines.push(JSON.parse(line).msg) })

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-wallet-pool-'))
  const cleanup = watchDirectory(dataDir)
  const server = await startEmbeddedPostgres({ dataDir })
  closing.push(cleanup.dismiss, () => rmSync(dataDir, { recursive: true, force: true }), server.stop)
  url = server.url
  admin = new pg.Client({ connectionString: url })
  await admin.connect()
  closing.push(() => admin.end())
  await admin.query('create table effects (name text primary key)')
  pool = openPool(url, log)
  closing.push(() => pool.end())
})
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

const processOf = async (client: pg.Pool | pg.PoolClient): Promise<number> =>
  (await client.query('select pg_backend_pid() as pid')).rows[0].pid

describe('a connection that is lost', () => {
  test('while a transaction uses it fails that transaction and nothing else', async () => {
    const work = inTransaction(pool, async (tx) => {
      const pid = await processOf(tx)
      await admin.query('select pg_terminate_backend($1)', [pid])
      // The end arrives while no statement waits for an answer.
      await sleep(200)
      await tx.query("insert into effects values ('never')")
    })
    await expect(work).rejects.toThrow()
    expect((await pool.query('select from effects')).rowCount).toBe(0)
    expect(lines).toContain('database connection lost')
  })
})

describe('a commit whose wait for a standby is cancelled', () => {
  beforeAll(async () => {
    await admin.query(`alter system set synchronous_standby_names = 'away'`)
    await admin.query('select pg_reload_conf()')
  })
  afterAll(async () => {
    await admin.query('alter system reset synchronous_standby_names')
    await admin.query('select pg_reload_conf()')
  })

  /**
   * Writes until a commit waits for the standby, and cancels that wait.
   * The first commits may not wait, because the checkpointer reads the setting a moment after the reload.
   */
  async function cancelCommit(write: () => Promise<unknown>): Promise<{ pid: number; outcome: unknown }> {
    for (;;) {
      let isOver = false
      const outcome = write()
        .catch((error: unknown) => error)
        .finally(() => {
          isOver = true
        })
      while (!isOver) {
        const { rows } = await admin.query(
          `select pid, pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
        )
        if (rows.length > 0) return { pid: rows[0].pid, outcome: await outcome }
        await sleep(10)
      }
    }
  }

  const insert = 'insert into effects values ($1) on conflict (name) do update set name = excluded.name'
  const ways: Record<string, (name: string) => Promise<unknown>> = {
    'a transaction': (name) => inTransaction(pool, (tx) => tx.query(insert, [name])),
    'a single statement': (name) => pool.query(insert, [name]),
  }

  test.each(Object.entries(ways))('of %s fails, and its connection is closed', async (name, write) => {
    const { pid, outcome } = await cancelCommit(() => write(name))
    expect(outcome).toBeInstanceOf(UnconfirmedCommitError)
    // So that the answer to a request is 503, and the caller repeats it under the same id.
    expect(isDatabaseDown(outcome as Error)).toBe(true)
    expect((await admin.query('select from effects where name = $1', [name])).rowCount).toBe(1)
    expect(await processOf(pool)).not.toBe(pid)
  })
})

describe('a wallet service that starts before its database', () => {
  test('waits until the database answers, and says so once', async () => {
    const late = createServer((socket) => {
      const server = connect(Number(new URL(url).port), '127.0.0.1')
      socket.pipe(server).pipe(socket)
      for (const end of [socket, server]) end.on('error', () => end.destroy())
    })
    const port = await freePortOf(late)
    const address = new URL(url)
    address.host = `127.0.0.1:${port}`
    const waiting = openPool(address.href, log)
    lines.length = 0
    const waited = waitForDatabase(waiting, log)
    await sleep(700)
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
    await waited
    expect(lines).toEqual(['waiting up to 60 seconds for the database'])
    await waiting.end()
    await new Promise((resolve) => late.close(resolve))
  })

  test('does not wait when waiting cannot help', async () => {
    const address = new URL(url)
    address.password = 'wrong'
    const refused = openPool(address.href, log)
    await expect(waitForDatabase(refused, log)).rejects.toThrow(/password authentication failed/)
    await refused.end()
  })
})

/** A port that was free a moment ago; nothing listens on it. */
async function freePortOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
