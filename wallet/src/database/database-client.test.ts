import { type AddressInfo, connect, createServer, type Server } from 'node:net'
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

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a host that takes the place of a silent one is found before the time of the silent one is over', async () => {
  const primary = new URL((await createTestDatabase()).url)
  let target = new URL(cluster.toReplica(primary.href))
  await expect.poll(() => cluster.onReplica(primary.href, 'select 1').catch(() => [])).toHaveLength(1)
  const proxy = createServer((socket) => {
    const server = connect(Number(target.port), target.hostname)
    socket.pipe(server).pipe(socket)
    for (const end of [socket, server]) end.on('error', () => end.destroy())
  })
  const silent = createServer()
  const pool = openPool(primary.href.replace(primary.host, `${await listen(silent)},${await listen(proxy)}`), log)
  const begun = performance.now()
  const answered = pool.query('select inet_server_port()::text as port')
  setTimeout(() => {
    target = primary
  }, 300)
  expect((await answered).rows).toEqual([{ port: primary.port }])
  expect(performance.now() - begun).toBeLessThan(4_000)
  await pool.end()
  for (const server of [proxy, silent]) server.close()
})

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
