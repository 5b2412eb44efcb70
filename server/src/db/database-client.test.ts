import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { databaseConnectMilliseconds } from '../lib/limits.ts'
import { createTestDatabase } from '../testing/database.ts'
import { type ReplicatedDatabase, startReplicatedDatabase } from '../testing/replicated-database.ts'
import { openDatabase } from './client.ts'
import { DatabaseClient } from './database-client.ts'
import { waitForDatabase } from './wait-for-database.ts'

let cluster: ReplicatedDatabase
let primary: URL
let standby: URL

beforeAll(async () => {
  cluster = await startReplicatedDatabase()
  primary = new URL((await createTestDatabase()).url)
  standby = new URL(cluster.toReplica(primary.href))
  await vi.waitFor(() => cluster.onReplica(primary.href, 'select 1'), { timeout: 10_000 })
})
afterAll(() => cluster.close())

const several = (...hosts: string[]) => primary.href.replace(primary.host, hosts.join(','))

async function portOf(url: string): Promise<string> {
  const client = new DatabaseClient({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('select inet_server_port()::text as port')
  await client.end()
  return rows[0].port
}

it('a connection is to the host that takes writes, whichever is named first', async () => {
  for (const url of [several(primary.host, standby.host), several(standby.host, primary.host)]) {
    expect(await portOf(url)).toBe(primary.port)
    expect(await portOf(url)).toBe(primary.port)
  }
  expect(await portOf(several('127.0.0.1:1', primary.host))).toBe(primary.port)
})

it('a URL that leads to standbys alone is refused, and a start fails with the same message when its time is over', async () => {
  await expect(portOf(several(standby.host, standby.host))).rejects.toThrow('is a standby')
  const say = () => {}
  await expect(waitForDatabase(standby.href, { seconds: 0, say })).rejects.toThrow('is a standby')
  await expect(waitForDatabase(several(standby.host, primary.host), { seconds: 0, say })).resolves.toBeUndefined()
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const proxyTo = (target: () => URL) =>
  createServer((socket) => {
    const server = connect(Number(target().port), target().hostname)
    socket.pipe(server).pipe(socket)
    for (const end of [socket, server]) end.on('error', () => end.destroy())
  })

it('a host that takes the place of a silent host is found before the connection to the silent host times out', async () => {
  let target = standby
  const [proxy, silent] = [proxyTo(() => target), createServer()]
  const url = several(await listen(silent), await listen(proxy))
  const begun = performance.now()
  const port = portOf(url)
  setTimeout(() => {
    target = primary
  }, 300)
  expect(await port).toBe(primary.port)
  expect(performance.now() - begun).toBeLessThan(databaseConnectMilliseconds - 1_000)
  for (const server of [proxy, silent]) server.close()
})

it('a host that took writes before is asked again at each connection', async () => {
  let target = primary
  const proxy = proxyTo(() => target)
  const url = several(await listen(proxy), standby.host)
  expect(await portOf(url)).toBe(primary.port)
  target = standby
  await expect(portOf(url)).rejects.toMatchObject({ code: '25006' })
  target = primary
  expect(await portOf(url)).toBe(primary.port)
  proxy.close()
})

it('a pool goes on with the standby that took the place of the primary', async () => {
  const { db, pool } = openDatabase({ url: several(primary.host, standby.host), onError: () => {} })
  const port = async () => (await pool.query('select inet_server_port()::text as port')).rows[0].port
  expect(await port()).toBe(primary.port)
  await cluster.failOver()
  await expect.poll(() => port().catch((error: Error) => error.message)).toBe(standby.port)
  await expect(pool.query('select pg_is_in_recovery() as standby')).resolves.toMatchObject({
    rows: [{ standby: false }],
  })
  await db.destroy()
})
