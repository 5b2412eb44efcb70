import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { watchDirectory } from '../testing/cleanup.ts'
import { openDatabase } from './client.ts'
import { OutcomeUnknownError } from './lost-commit.ts'
import { inTransaction, readSnapshot } from './transaction.ts'
import { WritesHaltedError } from './write-gate.ts'

let admin: pg.Client
let opened: ReturnType<typeof openDatabase>
const closing: (() => unknown)[] = []

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-lost-commit-'))
  const cleanup = watchDirectory(dataDir)
  const server = await startEmbeddedPostgres({ dataDir })
  closing.push(cleanup.dismiss, () => rmSync(dataDir, { recursive: true, force: true }), server.stop)
  admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  closing.push(() => admin.end())
  await admin.query('create role strongroom_app')
  await admin.query('create table effects (name text primary key)')
  await admin.query('grant all on effects to strongroom_app')
  // A login as operators create it, which sees and cancels only its own sessions.
  await admin.query(`create role service_login login password 'secret' in role strongroom_app`)
  const url = Object.assign(new URL(server.url), { username: 'service_login', password: 'secret' })
  opened = openDatabase({ url: url.href, connectionsMax: 1, onError: () => {} })
  closing.push(() => opened.db.destroy())
  await admin.query(`alter system set synchronous_standby_names = 'away'`)
  await admin.query('select pg_reload_conf()')
})
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

/** Cancels the session that waits for the standby, and returns its process. */
async function cancelWaiting(): Promise<number> {
  for (;;) {
    const { rows } = await admin.query(
      `select pid, pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
    )
    if (rows.length > 0) return rows[0].pid
    await sleep(10)
  }
}

const ways: Record<string, (name: string) => Promise<unknown>> = {
  'a transaction': (name) => inTransaction(opened.db, (trx) => sql`insert into effects values (${name})`.execute(trx)),
  'a single statement': (name) => sql`insert into effects values (${name})`.execute(opened.db),
}

describe.each(Object.entries(ways))('%s whose wait for the standby is cancelled', (name, write) => {
  it('is not acknowledged, although PostgreSQL reports success, and its connection is closed', async () => {
    opened.gate.open()
    const outcome = write(name).catch((error: unknown) => error)
    const pid = await cancelWaiting()
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError)
    // On this server the row is committed. A failover may lose it.
    expect((await admin.query('select from effects where name = $1', [name])).rowCount).toBe(1)
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(opened.db)
    expect(rows[0]!.pid).not.toBe(pid)
  })

  it('lets the next change fail before it begins, until the gate is open again', async () => {
    opened.gate.close()
    await expect(write('refused')).rejects.toThrow(WritesHaltedError)
    const { rows } = await sql`select from effects where name = 'refused'`.execute(opened.db)
    expect(rows).toEqual([])
    await expect(readSnapshot(opened.db, (trx) => sql`select`.execute(trx))).resolves.toBeDefined()
  })

  it('is cancelled by the service itself after three seconds', async () => {
    opened.gate.open()
    const startedAt = performance.now()
    await expect(write(`${name} alone`)).rejects.toThrow(OutcomeUnknownError)
    expect(performance.now() - startedAt).toBeLessThan(6_000)
    expect(opened.gate.isOpen()).toBe(false)
  })
})
