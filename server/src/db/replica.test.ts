import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runDueVerifications } from '../modules/money/verifications/due-verifications.ts'
import { runDueExports } from '../modules/reports/exports/due-exports.ts'
import type { Address } from '../testing/answer.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import {
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  usdtContract,
  type VaultFixture,
} from '../testing/fixtures.ts'
import {
  type ReplicatedDatabase,
  startReplicatedDatabase,
  startStrangeReplica,
} from '../testing/replicated-database.ts'
import { openDatabase } from './client.ts'
import { createReplica } from './replica.ts'

let database: ReplicatedDatabase
let test: TestApp
let vault: VaultFixture
let address: Address

beforeAll(async () => {
  database = await startReplicatedDatabase()
  ;({ test, vault, address } = await serve((url) => database.toReplica(url)))
})
afterAll(async () => {
  await test.close()
  await database.close()
})
beforeEach(() => {
  test.logged.length = 0
})

async function serve(toReplica: (databaseUrl: string) => string) {
  const served = await createTestApp((url) => ({ REPORTS_DATABASE_URL: toReplica(url), LOG_LEVEL: 'warn' }))
  const fixture = await createVaultFixture(served)
  await allowAll(fixture, 'create_address')
  return { test: served, vault: fixture, address: await createAddress(fixture.admin, { token: 'USDT' }) }
}

const interval = { from: '2026-01-01', to: '2035-01-01' }
const path = '/vaults/main-vault/reports' as const
const credit = (amount: string) => deposit(test, { address: address.address, asset: usdtContract, amount })

/** The number of operations that a report counts, and the database that was read: the replica or the primary. */
async function report(): Promise<{ count: number; isReplica: boolean }> {
  const { status, body } = await vault.admin.get(`${path}/transaction_activity?${new URLSearchParams(interval)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return { count: body.summary!.operationsCount, isReplica: !test.logged.join('').includes('reports are read from') }
}

/** Sessions of the service that have ended in the replica. */
async function sessionsOfReplica(): Promise<number> {
  const [row] = await database.onReplica(
    test.databaseUrl,
    'select sessions::int as sessions from pg_stat_database where datname = current_database()',
  )
  return row.sessions
}

async function makeExport() {
  const { status, body } = await vault.admin.post(`${path}/operations/exports`, { format: 'csv', ...interval })
  expect(status, JSON.stringify(body)).toBe(202)
  await runDueExports(test.deps, new AbortController().signal)
  const made = await vault.admin.get(`${path}/exports/${body.id}`)
  expect(made.body).toMatchObject({ state: 'done' })
  const { body: file } = await vault.admin.get(`${path}/exports/${body.id}/download`)
  return String(file)
}

describe('a replica for reports', () => {
  it('is read by reports, and contains every write acknowledged before', async () => {
    const [{ isReplica }] = await test.deps.slowReads.onReplica(async (db) => {
      const { rows } = await db.executeQuery<{ isReplica: boolean }>(
        (await import('kysely')).sql`select pg_is_in_recovery() as "isReplica"`.compile(db),
      )
      return rows as [{ isReplica: boolean }]
    })
    expect(isReplica).toBe(true)
    for (let count = 1; count <= 20; count += 1) {
      await credit('1')
      expect(await report()).toEqual({ count, isReplica: true })
    }
  })

  it('is read by the thread that makes a file', async () => {
    const before = await sessionsOfReplica()
    expect(await makeExport()).toContain(address.address)
    // One of the sessions is that of `sessionsOfReplica` itself.
    await expect.poll(sessionsOfReplica).toBeGreaterThan(before + 1)
    expect(test.logged).toEqual([])
  })

  it('is read by verifications', async () => {
    const requested = await vault.admin.post('/vaults/main-vault/ledger/verifications', {})
    await runDueVerifications(test.deps, new AbortController().signal)
    const { body } = await vault.admin.get(`/vaults/main-vault/ledger/verifications/${requested.body.id}`)
    expect(body).toMatchObject({ status: 'done', findings: [] })
    expect(test.logged).toEqual([])
  })

  it('that is behind is not read: the primary is read instead, and the log says so once', async () => {
    await database.onReplica(test.databaseUrl, 'select pg_wal_replay_pause()')
    try {
      const before = (await vault.admin.get('/vaults/main-vault/history?limit=100')).body.items.length
      await credit('1')
      expect(await report()).toEqual({ count: before + 1, isReplica: false })
      expect(await report()).toEqual({ count: before + 1, isReplica: false })
      expect(test.logged).toHaveLength(1)
      expect(test.logged[0]).toContain('The replica is more than 2000 ms behind')
      expect((await makeExport()).split('\n').filter((line) => line.includes('deposit'))).toHaveLength(before + 1)
    } finally {
      await database.onReplica(test.databaseUrl, 'select pg_wal_replay_resume()')
    }
    test.logged.length = 0
    expect(await report()).toMatchObject({ isReplica: true })
  })

  it('that cancels a read does not make the report fail', async () => {
    let reads = 0
    const answer = await test.deps.slowReads.onReplica(async (db) => {
      reads += 1
      if (db !== test.deps.slowReads.db) throw new Error('canceling statement due to conflict with recovery')
      return 'from the database itself'
    })
    expect([answer, reads]).toEqual(['from the database itself', 2])
    expect(test.logged.join('')).toContain('was made again by the database itself')
  })

  it('is not read when it is the database itself or replicates another one', async () => {
    // The database itself, which takes writes; and another database of the same replica.
    for (const wrong of [
      (url: string) => url,
      (url: string) => `${database.toReplica(url).replace(/\/[^/]*$/, '')}/postgres`,
    ]) {
      const other = await serve(wrong)
      try {
        const { status } = await other.vault.admin.get(`${path}/transaction_activity?${new URLSearchParams(interval)}`)
        expect(status).toBe(200)
        expect(other.test.logged.join('')).toContain('reports are read from the database itself')
        expect((await other.test.anonymous.get('//readyz')).status).toBe(200)
      } finally {
        await other.test.close()
      }
    }
  })

  it('that follows the database of another system is not read, although both databases have the same name', async () => {
    const strange = await startStrangeReplica(test.databaseUrl)
    const { db } = openDatabase({ url: strange.url, onError: () => {} })
    const warnings: unknown[] = []
    try {
      const replica = createReplica({ primary: test.deps.db, replica: db, warn: (error) => warnings.push(error) })
      expect(await replica.whenCaughtUp()).toBeNull()
      expect(warnings).toEqual([new Error('REPORTS_DATABASE_URL does not name a replica of this database')])
    } finally {
      await db.destroy()
      await strange.close()
    }
  })

  // Must be the last test, because it ends the replica.
  it('that is gone is not read, and the service is ready without it', async () => {
    await database.stopReplica()
    const { slowReads } = test.deps
    // The warning is logged only once a minute, so this call logs nothing.
    expect(await slowReads.forReports()).toBe(slowReads.db)
    expect((await report()).count).toBeGreaterThan(20)
    expect((await test.anonymous.get('//readyz')).status).toBe(200)
    expect(await makeExport()).toContain(address.address)
  })
})
