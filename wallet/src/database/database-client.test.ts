import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../server/src/testing/database.ts'
import { type ReplicatedDatabase, startReplicatedDatabase } from '../../../server/src/testing/replicated-database.ts'
import { isDatabaseDown } from './is-database-down.ts'
import { openPool } from './open-pool.ts'

const log = pino({ level: 'silent' })
let cluster: ReplicatedDatabase

beforeAll(async () => {
  cluster = await startReplicatedDatabase()
})
afterAll(() => cluster.close())

test('several hosts lead to the host that takes writes, before and after a failover', async () => {
  const primary = new URL((await createTestDatabase()).url)
  const standby = new URL(cluster.toReplica(primary.href))
  await expect.poll(() => cluster.onReplica(primary.href, 'select 1').catch(() => [])).toHaveLength(1)

  const standbys = openPool(primary.href.replace(primary.host, `${standby.host},${standby.host}`), log)
  const refusal = await standbys.query('select').catch((error: Error) => error)
  expect((refusal as Error).message).toMatch('is a standby')
  expect(isDatabaseDown(refusal as Error)).toBe(true)
  await standbys.end()

  const pool = openPool(primary.href.replace(primary.host, `${standby.host},${primary.host}`), log)
  await pool.query('create table orders_of_test (id int)')
  await cluster.failOver()
  const write = () => pool.query('insert into orders_of_test values (1)').then(({ rowCount }) => rowCount)
  await expect.poll(() => write().catch((error: Error) => error), { timeout: 10_000 }).toBe(1)
  await pool.end()
})
