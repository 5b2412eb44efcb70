import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodyBytesMax, bodyBytesPerCallerMax, publicBodyBytesMax } from '../lib/limits.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'

const senders = 400
const megabyte = 1_048_576

type Node = { test: TestApp; person: Person; port: number }

/** Two nodes: `hasty` soon disconnects senders that stall, and on `patient` every request has time to arrive. */
let hasty: Node
let patient: Node

beforeAll(async () => {
  hasty = await startNode('2')
  patient = await startNode('30')
})
afterAll(async () => {
  await hasty?.test.close()
  await patient?.test.close()
})

async function startNode(requestTimeoutSeconds: string): Promise<Node> {
  const test = await createTestApp({ REQUEST_TIMEOUT_SECONDS: requestTimeoutSeconds })
  const person = await test.signIn('person@example.org')
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  return { test, person, port: (test.app.server.address() as AddressInfo).port }
}

const post = (path: string, bytes: number, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${bytes}\r\n\r\n`
const bearer = () => `Authorization: Bearer ${patient.person.token}\r\n`
const membersPost = () => post('/api/v1/users/me', megabyte, bearer()).replace('POST', 'PATCH')

/** Sends the texts at the same time. Returns the status of each answer and the memory that this process used. */
async function answersTo(
  texts: string[],
  { port }: Node = patient,
): Promise<{ statuses: number[]; megabytesMore: number }> {
  const before = process.memoryUsage()
  let most = 0
  const measure = () => {
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    most = Math.max(most, arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed)
  }
  const sockets = await Promise.all(texts.map((text) => open(text, port)))
  const isEnded = Promise.all(sockets.map(({ closed }) => closed))
  const timer = setInterval(measure, 20)
  await isEnded
  clearInterval(timer)
  return { statuses: sockets.map(({ status }) => status()), megabytesMore: most / megabyte }
}

async function open(text: string, port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1')
  socket.on('error', () => {})
  socket.on('data', (chunk: string) => {
    answer += chunk
  })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(text, 'latin1')
  return { closed, socket, status: () => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0) }
}

const every = (status: number) => Array(senders).fill(status)

describe('T68 400 senders that stall', () => {
  it.each([
    ['say nothing', ''],
    ['send half a head', 'POST /webhooks/wallet HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    ['send half a wallet event', post('/webhooks/wallet', publicBodyBytesMax) + 'x'.repeat(publicBodyBytesMax - 1)],
    ['send half a sign-in', post('/api/v1/auth/magic-link', 1_000) + 'x'.repeat(500)],
  ])('and %s are disconnected in time, at the cost of the bytes that they sent', async (_what, text) => {
    const { statuses, megabytesMore } = await answersTo(Array(senders).fill(text), hasty)
    expect(statuses).toEqual(every(408))
    // The text of the answers and both ends of each connection are in this process too.
    expect(megabytesMore).toBeLessThan(120)
  })

  it.each([
    ['a wallet event', () => post('/webhooks/wallet', publicBodyBytesMax + 1)],
    ['a sign-in', () => post('/api/v1/auth/magic-link', megabyte)],
    ['nothing that exists', () => post('/nowhere', megabyte)],
  ])('are not read when %s would be larger than a stranger may send', async (_what, text) => {
    const { statuses } = await answersTo(Array(senders).fill(text()))
    expect(statuses).toEqual(every(413))
  })

  it('that are the same member share the memory of one member, and others are served', async () => {
    const full = bodyBytesPerCallerMax / megabyte
    const text = membersPost() + 'x'.repeat(bodyBytesMax - 1)
    const opened = await Promise.all(Array.from({ length: 40 }, () => open(text, patient.port)))
    const refused = () => opened.filter(({ status }) => status() === 429).length
    await expect.poll(refused).toBeGreaterThanOrEqual(40 - full)
    // The others lack one byte. With it they are read whole, and are not JSON.
    for (const { socket, status } of opened) if (status() === 0) socket.end('x')
    await Promise.all(opened.map(({ closed }) => closed))
    const statuses = opened.map(({ status }) => status())
    expect(statuses.filter((status) => status === 400)).toHaveLength(40 - refused())
    expect(refused()).toBeLessThan(40)
    // The memory of the requests is free again.
    expect((await patient.person.patch('/users/me', { name: 'Person' })).status).toBe(200)
  })
})

describe('a body', () => {
  it('is read whole, however small its parts are', async () => {
    const body = JSON.stringify({ name: 'Ä person of many parts' })
    const bytes = Buffer.from(body)
    const socket = connect(patient.port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.setNoDelay(true)
    const head = post('/api/v1/users/me', bytes.length, `${bearer()}Connection: close\r\n`).replace('POST', 'PATCH')
    socket.write(head)
    for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
    await once(socket, 'close')
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toContain('Ä person of many parts')
  })

  it('of a chunked request is refused at the same size', async () => {
    const head =
      'POST /webhooks/wallet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const size = publicBodyBytesMax + 1
    const { statuses } = await answersTo([`${head}${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`])
    expect(statuses).toEqual([413])
  })
})
