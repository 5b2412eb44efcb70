import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { untilSessionsWait } from '../testing/lock-waits.ts'

let test: TestApp
let person: Person
let owner: pg.Client
beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  owner = new pg.Client({ connectionString: test.databaseUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await test.close()
})

/** Ends all connections of the service, as a restart or a failover does. */
const terminate = () =>
  owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'strongroom%'`,
  )

describe('a database that ends connections or takes no writes', () => {
  it('is answered with 503 and Retry-After to the request that waited for it', async () => {
    await owner.query('begin')
    await owner.query('select from users where id = $1 for update', [person.userId])
    const answer = person.patch('/users/me', { color: '#abc' })
    await untilSessionsWait(test.deps.db)
    await terminate()
    await owner.query('rollback')
    const { status, body, headers } = await answer
    expect([status, body.reason]).toEqual([503, 'database_unreachable'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    await expect.poll(async () => (await person.get('/users/me')).status).toBe(200)
  })

  it('is answered with 503 and Retry-After to changes, while reads are served, and recovers', async () => {
    const { rows } = await owner.query('select current_database() as name')
    await owner.query(`alter database ${rows[0].name} set default_transaction_read_only = on`)
    // The time of the last use is due, and cannot be written.
    await owner.query(`begin read write; update sessions set last_seen_at = last_seen_at - interval '2 hours'; commit`)
    await terminate()
    await expect.poll(async () => (await person.get('/users/me')).status).toBe(200)
    for (const key of [{}, { 'idempotency-key': 'once' }]) {
      const { status, body, headers } = await person.patch(
        '/users/me',
        { color: '#abc' },
        key as Record<string, string>,
      )
      expect([status, body.reason]).toEqual([503, 'database_unreachable'])
      expect(headers['retry-after']).toBe('1')
    }
    await owner.query(`alter database ${rows[0].name} reset default_transaction_read_only`)
    await terminate()
    await expect
      .poll(async () => (await person.patch('/users/me', { color: '#abc' }, { 'idempotency-key': 'once' })).status)
      .toBe(200)
  })
})
