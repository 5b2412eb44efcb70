import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'

/** The result of a load. */
export type LoadResult = {
  /** Answers per second of the measured time, by status. */
  perSecond: Record<number, number>
  /** All answers by status, including those after the measured time. */
  answers: Record<number, number>
  /** The duration of each request, in milliseconds, in ascending order. */
  latencies: Float64Array
  /** Arrivals that found every connection busy. Only an open load has such arrivals. */
  unsent: number
  /** Number of connections that broke. */
  broken: number
}

type Load = {
  port: number
  connections: number
  /** Loopback addresses that the connections come from, in turn. */
  from?: string[]
  /** Maximum duration: a load ends early when it has no more requests. */
  seconds: number
  /** Returns the bytes of the next request, or null when no request is left. */
  next: () => Buffer | null
  onAnswer?: (status: number, text: string, request: Buffer) => void
}

/**
 * Sends requests on each connection, the next after the answer to the last: as many requests are open as there are
 * connections.
 */
export async function loadClosed(load: Load): Promise<LoadResult> {
  const { record, result } = createTally(load)
  const connections = await openAll(load)
  const endsAt = performance.now() + load.seconds * 1000
  record.begin()
  const send = async (connection: Connection) => {
    while (performance.now() < endsAt) {
      const request = load.next()
      if (request === null || !(await exchange(connection, request, record, load.onAnswer))) return
    }
  }
  await Promise.all(connections.map(send))
  for (const connection of connections) connection.end()
  return result()
}

/** Sends requests at a fixed rate, regardless of the answers. An arrival that finds all connections busy is not sent. */
export async function loadOpen(load: Load & { arrivalsPerSecond: number }): Promise<LoadResult> {
  const { record, result } = createTally(load)
  const connections = await openAll(load)
  const idle = [...connections]
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now()
  record.begin()
  for (let arrived = 0; performance.now() < startedAt + load.seconds * 1000; ) {
    const due = Math.floor(((performance.now() - startedAt) * load.arrivalsPerSecond) / 1000)
    const free = idle.splice(0, due - arrived)
    record.unsent(due - arrived - free.length)
    for (const connection of free) {
      const request = load.next()
      if (request === null) break
      const done = exchange(connection, request, record, load.onAnswer).then((isAlive) => {
        underWay.delete(done)
        if (isAlive) idle.push(connection)
      })
      underWay.add(done)
    }
    arrived = due
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  for (const connection of connections) connection.end()
  return result()
}

/** Returns a request as bytes, so that building the request is not part of the load. */
export function toRequest(method: string, path: string, headers: Record<string, string>, body: string | null): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: bench']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== null) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}

/** Returns the value at `share` of the ascending values, and 0 when there are no values. */
export function percentile(values: Float64Array, share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
}

type Recorder = {
  begin(): void
  answer(status: number, milliseconds: number): void
  unsent(count: number): void
  broken(): void
}

function createTally({ seconds }: Load): { record: Recorder; result(): LoadResult } {
  const inTime: Record<number, number> = {}
  const answers: Record<number, number> = {}
  const latencies: number[] = []
  let [startedAt, lastAt, unsent, broken] = [0, 0, 0, 0]
  const record: Recorder = {
    begin() {
      startedAt = performance.now()
    },
    answer(status, milliseconds) {
      answers[status] = (answers[status] ?? 0) + 1
      latencies.push(milliseconds)
      lastAt = performance.now()
      if (lastAt <= startedAt + seconds * 1000) inTime[status] = (inTime[status] ?? 0) + 1
    },
    unsent(count) {
      unsent += count
    },
    broken() {
      broken += 1
    },
  }
  const result = () => {
    const measured = Math.min(seconds, (lastAt - startedAt) / 1000)
    return {
      perSecond: Object.fromEntries(Object.entries(inTime).map(([status, count]) => [status, count / measured])),
      answers,
      latencies: Float64Array.from(latencies).sort(),
      unsent,
      broken,
    }
  }
  return { record, result }
}

async function exchange(
  connection: Connection,
  request: Buffer,
  record: Recorder,
  onAnswer: Load['onAnswer'],
): Promise<boolean> {
  const sentAt = performance.now()
  const answer = await connection.send(request)
  if (answer === null) {
    record.broken()
    return false
  }
  record.answer(answer.status, performance.now() - sentAt)
  onAnswer?.(answer.status, answer.text, request)
  return true
}

type Reply = { status: number; text: string }
type Connection = { send(request: Buffer): Promise<Reply | null>; end(): void }

const openAll = ({ port, connections, from = ['127.0.0.1'] }: Load): Promise<Connection[]> =>
  Promise.all(Array.from({ length: connections }, (_, i) => open(port, from[i % from.length]!)))

/**
 * Opens a keep-alive connection with one open request at a time. It parses only the parts of HTTP that the service
 * sends, head and content-length, because the load shares the machine with the measured service. An answer of null
 * means that the connection broke.
 */
function open(port: number, localAddress: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
    let received = ''
    let isGone = false
    let answer: (reply: Reply | null) => void = () => {}
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      received += chunk
      const headEnd = received.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const lengthAt = received.indexOf('content-length: ')
      const bodyLength = lengthAt < 0 || lengthAt > headEnd ? 0 : Number.parseInt(received.slice(lengthAt + 16), 10)
      if (received.length < headEnd + 4 + bodyLength) return
      const reply = { status: Number(received.slice(9, 12)), text: received.slice(headEnd + 4) }
      received = ''
      answer(reply)
    })
    socket.once('connect', () =>
      resolve({
        send: (request) =>
          new Promise((done) => {
            if (isGone) return done(null)
            answer = done
            socket.write(request)
          }),
        end: () => socket.destroy(),
      }),
    )
    socket.once('error', reject)
    socket.on('close', () => {
      isGone = true
      answer(null)
    })
  })
}
