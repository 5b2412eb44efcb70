import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../db/client.ts'
import { createMigrator, migrate } from '../db/migrate.ts'
import { inTransaction } from '../db/transaction.ts'
import { mailAttemptsMax, mailLeaseMilliseconds } from '../lib/limits.ts'
import { createEmptyDatabase, createTestDatabase } from '../testing/database.ts'
import { claimMails, deleteMail, enqueueMail, retryMail } from './queue.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function openTestDatabase() {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  cleanups.push(() => client.end())
  return { url: database.url, client }
}

describe('the queue of mails', () => {
  const now = new Date('2026-01-21T12:00:00Z')
  const later = (milliseconds: number) => new Date(now.getTime() + milliseconds)
  let db: ReturnType<typeof openDatabase>['db']
  beforeAll(async () => {
    const { url } = await openTestDatabase()
    db = openDatabase({ url, onError: () => {} }).db
    cleanups.push(() => db.destroy())
  })

  it('contains a mail only if the transaction that queued it is committed', async () => {
    const failing = inTransaction(db, async (trx) => {
      await enqueueMail(trx, { kind: 'lost' }, now)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await inTransaction(db, (trx) => enqueueMail(trx, { kind: 'kept' }, now))
    const [claimed, ...others] = await claimMails(db, 20, now)
    expect([claimed, others]).toEqual([expect.objectContaining({ request: { kind: 'kept' }, attempts: 1 }), []])
    await deleteMail(db, claimed!.id)
  })

  it('gives a mail to one node, and to another node when the lease of the first is over', async () => {
    await inTransaction(db, (trx) => enqueueMail(trx, { kind: 'one' }, now))
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimMails(db, 20, now)))
    const [first, ...others] = claims.flat()
    expect(others).toEqual([])
    expect(await claimMails(db, 20, later(mailLeaseMilliseconds - 1))).toEqual([])
    const [second] = await claimMails(db, 20, later(mailLeaseMilliseconds))
    expect(second).toMatchObject({ id: first!.id, attempts: 2 })
    // The first node was only slow: its failure does not end the lease of the second node.
    await retryMail(db, first!, now)
    expect(await claimMails(db, 20, later(mailLeaseMilliseconds))).toEqual([])
    await deleteMail(db, first!.id)
  })

  it('gives up a mail after its last attempt, and keeps its row', async () => {
    await inTransaction(db, (trx) => enqueueMail(trx, { kind: 'refused' }, now))
    for (let attempt = 1; attempt <= mailAttemptsMax; attempt += 1) {
      const [claimed] = await claimMails(db, 20, now)
      expect(claimed?.attempts).toBe(attempt)
      await retryMail(db, claimed!, now)
    }
    expect(await claimMails(db, 20, later(86_400_000))).toEqual([])
    expect(await db.selectFrom('queued_mails').select('attempts').execute()).toEqual([{ attempts: mailAttemptsMax }])
  })
})

/** The part of the schema of pg-boss 10 that the migration reads, with a queue for each name. */
const pgBoss = (queues: string[]) => `
  create schema pgboss;
  create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
  create table pgboss.queue (name text primary key, partition_name text);
  create table pgboss.job (
    id uuid not null default gen_random_uuid(),
    name text not null references pgboss.queue on delete restrict deferrable initially deferred,
    data jsonb,
    state pgboss.job_state not null default 'created',
    retry_count integer not null default 0,
    start_after timestamptz not null default now(),
    started_on timestamptz,
    expire_in interval not null default interval '2 minutes',
    created_on timestamptz not null default now(),
    primary key (name, id)
  ) partition by list (name);
  create function pgboss.delete_queue(queue_name text) returns void language plpgsql as $$
  declare
    table_name varchar;
  begin
    with deleted as (delete from pgboss.queue where name = queue_name returning partition_name)
    select partition_name from deleted into table_name;
    execute format('drop table if exists pgboss.%I', table_name);
  end $$;
  ${queues
    .map(
      (name, index) => `
      insert into pgboss.queue values ('${name}', 'jobs_${index}');
      create table pgboss.jobs_${index} partition of pgboss.job for values in ('${name}');`,
    )
    .join('')}`

describe('an upgrade from the version that kept mails in pg-boss', () => {
  async function openEarlierDatabase() {
    const database = await createEmptyDatabase()
    cleanups.push(() => database.drop())
    const pool = new pg.Pool({ connectionString: database.url, max: 1 })
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    const { error } = await createMigrator(db).migrateTo('0025-tokens-of-addresses')
    await db.destroy()
    if (error !== undefined) throw error
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    cleanups.push(() => client.end())
    return { url: database.url, client }
  }

  async function migrateFrom(queues: string[]) {
    const { url, client } = await openEarlierDatabase()
    await client.query(pgBoss(queues))
    await client.query(`insert into pgboss.job (name, data, state, retry_count, start_after, started_on) values
      ('send-mail', '{"kind": "created"}', 'created', 0, '2026-01-21T12:00:00Z', null),
      ('send-mail', '{"kind": "retry"}', 'retry', 3, '2026-01-21T12:01:00Z', '2026-01-21T12:00:50Z'),
      ('send-mail', '{"kind": "retry for days"}', 'retry', 20, '2026-01-21T12:02:00Z', '2026-01-21T12:00:50Z'),
      ('send-mail', '{"kind": "active"}', 'active', 1, '2026-01-21T12:00:00Z', '2026-01-21T12:02:00Z'),
      ('send-mail', '{"kind": "completed"}', 'completed', 0, now(), now()),
      ('send-mail', '{"kind": "failed"}', 'failed', 20, now(), now())`)
    await migrate(url)
    const { rows } = await client.query(
      `select request->>'kind' as kind, attempts, next_attempt_at from queued_mails order by next_attempt_at`,
    )
    expect(rows).toEqual([
      { kind: 'created', attempts: 0, next_attempt_at: new Date('2026-01-21T12:00:00Z') },
      { kind: 'retry', attempts: 3, next_attempt_at: new Date('2026-01-21T12:01:00Z') },
      // One attempt is left for this mail.
      { kind: 'retry for days', attempts: 19, next_attempt_at: new Date('2026-01-21T12:02:00Z') },
      // The node that claimed this mail may still be sending it: another node sends it when the claim ends.
      { kind: 'active', attempts: 1, next_attempt_at: new Date('2026-01-21T12:04:00Z') },
    ])
    return client
  }

  it('keeps every mail that waits or is being sent, and drops the schema', async () => {
    const client = await migrateFrom(['send-mail'])
    expect((await client.query(`select from pg_namespace where nspname = 'pgboss'`)).rowCount).toBe(0)
  })

  it('leaves the queues of another program alone', async () => {
    const client = await migrateFrom(['send-mail', 'of another program'])
    expect((await client.query('select name from pgboss.queue')).rows).toEqual([{ name: 'of another program' }])
  })

  it('loses no mail of a request that commits during the upgrade', async () => {
    const { url, client } = await openEarlierDatabase()
    await client.query(pgBoss(['send-mail']))
    await client.query('begin')
    await client.query(`insert into pgboss.job (name, data) values ('send-mail', '{"kind": "late"}')`)
    const migrated = migrate(url)
    const observer = new pg.Client({ connectionString: url })
    await observer.connect()
    cleanups.push(() => observer.end())
    await expect
      .poll(
        async () =>
          (await observer.query(`select from pg_locks where not granted and relation = 'pgboss.job'::regclass`))
            .rowCount,
      )
      .toBeGreaterThan(0)
    await client.query('commit')
    await migrated
    expect((await client.query(`select request->>'kind' as kind from queued_mails`)).rows).toEqual([{ kind: 'late' }])
  })
})
