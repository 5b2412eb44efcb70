import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bodyBytesMax, connectionsPerAddressMax, refusedConnectionSeconds } from '../lib/limits.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { limitConnections } from './connection-share.ts'

let test: TestApp
let port: number
const sockets: Socket[] = []

beforeAll(async () => {
  test = await createTestApp()
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  port = (test.app.server.address() as AddressInfo).port
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await test.close()
})

function open(localAddress: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

/** The answer, and the code of the error that broke the connection. */
async function answerTo(localAddress: string, body = ''): Promise<{ answer: string; broke: string | null }> {
  const socket = open(localAddress)
  let [answer, broke] = ['', null as string | null]
  socket.on('error', (error: NodeJS.ErrnoException) => {
    broke = error.code ?? 'unknown'
  })
  socket.on('data', (part) => {
    answer += part
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`)
  socket.write(body === '' ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n${body}`)
  await closed
  return { answer, broke }
}

const statusOf = async (localAddress: string) => (await answerTo(localAddress)).answer.slice(0, 15)

async function fill(localAddress: string): Promise<void> {
  for (let i = 0; i < connectionsPerAddressMax; i += 1) await once(open(localAddress), 'connect')
}

it('T68 one address that holds many connections leaves room for the others', async () => {
  await fill('127.0.0.1')
  expect(await statusOf('127.0.0.1')).toBe('HTTP/1.1 503 Se')
  expect(await statusOf('127.0.0.2')).toBe('HTTP/1.1 200 OK')
  for (const socket of sockets.splice(0)) socket.destroy()
  await expect.poll(() => statusOf('127.0.0.1')).toBe('HTTP/1.1 200 OK')
})

it('T68 a connection beyond a limit is answered and closed, not reset', async () => {
  await fill('127.0.0.1')
  const answers = await Promise.all(Array.from({ length: 300 }, () => answerTo('127.0.0.1', 'x'.repeat(50_000))))
  expect(answers.filter(({ broke }) => broke !== null)).toEqual([])
  for (const { answer } of answers) {
    const [head, body] = answer.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
    expect(head).toContain('retry-after: 1\r\n')
    expect(JSON.parse(body!)).toMatchObject({ reason: 'overloaded' })
  }
  // All connections of the node are in use: another address is answered as well.
  await fill('127.0.0.3')
  expect(await statusOf('127.0.0.4')).toBe('HTTP/1.1 503 Se')
  for (const socket of sockets.splice(0)) socket.destroy()
  await expect.poll(() => statusOf('127.0.0.4')).toBe('HTTP/1.1 200 OK')
})

it('T68 a sender beyond its share that asks for nothing, or sends without end, is sent away', async () => {
  await fill('127.0.0.1')
  const silent = open('127.0.0.1')
  let answer = ''
  silent.on('data', (part) => {
    answer += part
  })
  const endless = open('127.0.0.1')
  const flood = Buffer.alloc(65_536)
  let sent = 0
  const send = () => {
    while (!endless.destroyed && endless.write(flood)) sent += flood.length
  }
  endless.on('drain', send)
  endless.once('connect', send)
  const beganAt = performance.now()
  await Promise.all([endless, silent].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  expect(performance.now() - beganAt).toBeLessThan((refusedConnectionSeconds + 3) * 1_000)
  expect(answer).toMatch(/^HTTP\/1\.1 503 /)
  // Beside what the service reads, the buffers of both ends fill up.
  expect(sent).toBeLessThan(bodyBytesMax + 20_000_000)
})

it('T68 the addresses of an IPv6 host are one sender, because it may use all of its network', () => {
  const server = createServer()
  server.removeAllListeners('connection')
  server.on('connection', () => {})
  limitConnections({ server, hasShares: true, log: { warn: () => {} } })
  /** Returns true if the connection is turned away: then its handler waits for data. */
  const isRefused = (remoteAddress: string) => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
    sockets.push(socket)
    server.emit('connection', socket)
    return socket.listenerCount('data') > 0
  }
  for (let i = 0; i < connectionsPerAddressMax; i += 1) expect(isRefused(`2001:db8:1:2::${i.toString(16)}`)).toBe(false)
  expect(isRefused('2001:db8:1:2:ffff::1')).toBe(true)
  expect(isRefused('2001:db8:1:3::1')).toBe(false)
})
