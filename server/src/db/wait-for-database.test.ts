import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../testing/database.ts'
import { waitForDatabase } from './wait-for-database.ts'

let database: { url: string; drop(): Promise<void> }
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Returns a proxy to the database, which is closed until `listen` is called. */
function createGate() {
  const { hostname, port } = new URL(database.url)
  const gate = createServer((socket) => {
    const upstream = connect(Number(port), hostname)
    for (const side of [socket, upstream]) side.on('error', () => {})
    socket.pipe(upstream).pipe(socket)
  })
  const listen = (at: number) =>
    new Promise<number>((resolve) => gate.listen(at, '127.0.0.1', () => resolve((gate.address() as AddressInfo).port)))
  return { listen, close: () => new Promise<void>((resolve) => gate.close(() => resolve())) }
}

it('waits until the database answers, and says so once', async () => {
  const first = createGate()
  const port = await first.listen(0)
  await first.close()
  const url = new URL(database.url)
  Object.assign(url, { hostname: '127.0.0.1', port: String(port) })
  const said: string[] = []
  const waiting = waitForDatabase(url.href, { seconds: 60, say: (reason) => said.push(reason) })
  await sleep(1_200)
  const second = createGate()
  await second.listen(port)
  await waiting
  await second.close()
  expect(said).toEqual([expect.stringContaining('ECONNREFUSED')])
})

it('ends with the failure after its time, and at once if waiting cannot help', async () => {
  const said: string[] = []
  const wait = (url: string, seconds: number) => waitForDatabase(url, { seconds, say: (reason) => said.push(reason) })
  await expect(wait('postgresql://nobody@127.0.0.1:1/none', 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  const missing = new URL(database.url)
  missing.pathname = '/no_such_database'
  await expect(wait(missing.href, 60)).rejects.toMatchObject({ code: '3D000' })
  expect(said).toEqual([])
})

it('says nothing when the database is there', async () => {
  const say = () => {
    throw new Error('nothing to wait for')
  }
  await expect(waitForDatabase(database.url, { seconds: 60, say })).resolves.toBeUndefined()
})
