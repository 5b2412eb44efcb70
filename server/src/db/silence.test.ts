import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTasks } from '../jobs/tasks.ts'
import { databasePatienceMilliseconds, databaseProbeMilliseconds } from '../lib/limits.ts'
import type { Answer } from '../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { allowAll, createVaultFixture } from '../testing/fixtures.ts'
import { type StoppableDatabase, startStoppableDatabase } from '../testing/stoppable-database.ts'
import { openDatabase } from './client.ts'

// These limits end a wait too. They are far away here, so that an answer within `soonMilliseconds` can come from the
// detection of silence only, however busy the machine is.
vi.mock('../lib/limits.ts', async (original) => ({
  ...(await original<typeof import('../lib/limits.ts')>()),
  statementMilliseconds: 30_000,
  databaseConnectMilliseconds: 30_000,
}))
const soonMilliseconds = 20_000

let database: StoppableDatabase
let test: TestApp
let person: Person
let stopTasks: () => Promise<void>

beforeAll(async () => {
  database = await startStoppableDatabase()
  test = await createTestApp()
  const vault = await createVaultFixture(test)
  person = vault.admin
  await allowAll(vault, 'counterparty_create')
  stopTasks = startTasks(test.deps)
})
afterAll(async () => {
  try {
    await stopTasks?.()
    await test?.close()
  } finally {
    await database?.close()
  }
})

const vaultPath = '/vaults/main-vault'
const event = { kind: 'TOPUP', tx: { network: 'ethereum', asset: '', amount: '1', toAddress: '0x1', txHash: '0x1' } }

/** Requests of every kind: a read, a write, a sign-in, a webhook of the wallet service, and a check by a load balancer. */
const requests: Record<string, () => Promise<Answer<unknown>>> = {
  read: () => person.get(`${vaultPath}/balances`),
  report: () => person.get(`${vaultPath}/reports/transaction_activity?from=2026-01-01&to=2026-02-01`),
  write: () => person.post(`${vaultPath}/counterparties`, { name: 'Supplier', kind: 'company' }),
  'write with a key': () => person.patch('/users/me', { name: 'Nobody' }, { 'idempotency-key': 'silence' }),
  'sign-in': () => test.anonymous.post('/auth/magic-link', { email: 'operator@example.org' }),
  session: () => person.get('/auth/session'),
  webhook: () => test.anonymous.post('//webhooks/wallet', event),
  readiness: () => test.anonymous.get('//readyz'),
}

/** Sends each request many times at once: more requests than there are connections. */
async function sendMany(copies: number) {
  const sent = Object.entries(requests).flatMap(([name, send]) =>
    Array.from({ length: copies }, async () => {
      const startedAt = performance.now()
      const { status, headers, body } = await send()
      const milliseconds = performance.now() - startedAt
      return { name, status, retryAfter: headers['retry-after'], body, milliseconds }
    }),
  )
  return Promise.all(sent)
}

const statuses = async () => {
  const answers = await Promise.all([requests.read!(), requests.write!(), requests.readiness!()])
  return answers.map(({ status }) => status)
}

describe.each([
  ['stopped processes', () => database.stopProcesses(), () => database.continueProcesses()],
  ['a cut network', () => database.cutNetwork(), () => database.healNetwork()],
])('T53 T54 a database that stops answering: %s', (_, stop, heal) => {
  it('is a 503 within seconds on every path, then at once, and the service recovers by itself', async () => {
    expect(databasePatienceMilliseconds + databaseProbeMilliseconds).toBeLessThan(5_000)
    await expect.poll(statuses).toEqual([200, 201, 200])
    stop()
    try {
      for (const answer of await sendMany(8)) {
        expect(answer, answer.name).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) })
        expect(answer.body, answer.name).toMatchObject({ error: 'Service Unavailable', code: 503 })
        expect(answer.milliseconds, answer.name).toBeLessThan(soonMilliseconds)
      }
      for (const answer of await sendMany(2)) {
        expect(answer, answer.name).toMatchObject({ status: 503 })
        expect(answer.milliseconds, answer.name).toBeLessThan(soonMilliseconds)
      }
    } finally {
      heal()
    }
    await expect.poll(statuses).toEqual([200, 201, 200])
  })
})

describe('T52 a commit whose answer is lost', () => {
  it('is answered as unknown, and the same Idempotency-Key tells that it took effect once', async () => {
    const send = () =>
      person.post(`${vaultPath}/counterparties`, { name: 'Once', kind: 'company' }, { 'idempotency-key': 'lost' })
    database.cutNetworkAtCommitOf('Once')
    const lost = await send()
    expect(lost).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
    expect(lost.body.message).toContain('outcome is unknown')
    expect(lost.body.message).toContain('Idempotency-Key')
    database.healNetwork()
    let repeated = lost
    await expect
      .poll(async () => {
        repeated = await send()
        return repeated.status
      })
      .toBe(201)
    expect(repeated.headers['idempotency-replayed']).toBe('true')
    const { body } = await person.get(`${vaultPath}/counterparties?search=Once`)
    expect(body.items).toHaveLength(1)
  })
})

describe('one connection that falls silent', () => {
  // A task whose connection is cut would keep the stop of the node waiting for the far limits above.
  beforeAll(() => stopTasks())

  it('is closed after the time limit of its statement, and the other connections go on', async () => {
    const { db, pool } = openDatabase({ url: test.databaseUrl, statementMilliseconds: 500, onError: () => {} })
    await sql`select 1`.execute(db)
    database.cutOpenConnections()
    await expect(sql`select 1`.execute(db)).rejects.toThrow('The database does not answer')
    await sql`select 1`.execute(db)
    expect(pool.totalCount).toBe(1)
    await db.destroy()
  })

  it('is not a connection that works on a slow statement', async () => {
    const connect = vi.spyOn(pg.Client.prototype, 'connect')
    const holder = new pg.Client({ connectionString: test.databaseUrl })
    await holder.connect()
    await holder.query('select pg_advisory_lock(1)')
    const { db } = openDatabase({ url: `${test.databaseUrl}?application_name=slow`, onError: () => {} })
    const isLocked = sql`select pg_advisory_lock(1) is not null as locked`.execute(db)
    const connections = () =>
      (connect.mock.contexts as unknown as { connectionParameters: { application_name?: string } }[]).filter(
        ({ connectionParameters }) => connectionParameters.application_name === 'slow',
      ).length
    // The connection of the statement, a first try of a new connection, and a second, which begins when the first is over.
    await expect.poll(connections).toBeGreaterThanOrEqual(3)
    await holder.end()
    expect((await isLocked).rows).toEqual([{ locked: true }])
    await db.destroy()
  })
})
