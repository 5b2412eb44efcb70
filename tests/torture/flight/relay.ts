import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Trap } from '../breakpoints.ts'

/** A request or an answer that passes. An answer has the path and body of its request, and its own text. */
export type Passage = { side: 'request' | 'answer'; path: string; body: string; answer: string }
export type Stop = { name: string; isAt(passage: Passage): boolean }

/**
 * A proxy between two processes. Its address stays the same when the called process is replaced, and it can hold back a
 * request or an answer. It cuts connections while there is no process to call.
 */
export type Relay = {
  url: string
  /** The next passage at this stop waits there until it is released. */
  stopAt(stop: Stop): Trap
  close(): Promise<void>
}

export async function startRelay(target: () => string | null): Promise<Relay> {
  let trap: (Trap & { stop: Stop }) | null = null

  const pass = async (passage: Passage) => {
    const set = trap
    if (set === null || !set.stop.isAt(passage)) return
    trap = null
    await new Promise<void>((resolve) => Object.assign(set, { caught: { toAddress: null }, release: resolve }))
  }

  const forward = async (request: IncomingMessage, aborted: AbortSignal | undefined) => {
    const received = { path: request.url ?? '/', body: await textOf(request) }
    await pass({ ...received, side: 'request', answer: '' })
    const url = target()
    if (url === null) throw new Error('Nobody is there')
    const { host: _, connection: __, ...headers } = request.headers
    const out = send(url + received.path, {
      method: request.method,
      headers,
      agent: false,
      ...(aborted && { signal: aborted }),
    })
    // `once` below throws the error.
    out.on('error', () => {})
    out.end(received.body)
    const [answer] = (await once(out, 'response')) as [IncomingMessage]
    const text = await textOf(answer)
    await pass({ ...received, side: 'answer', answer: text })
    return { status: answer.statusCode!, headers: answer.headers, text }
  }

  const server = createServer((request, response) => {
    // An order arrives although its sender is dead. A question ends with the process that asked.
    const gone = request.method === 'GET' ? new AbortController() : null
    response.once('close', () => {
      if (!response.writableFinished) gone?.abort()
    })
    forward(request, gone?.signal).then(
      ({ status, headers: { 'transfer-encoding': _, connection: __, ...headers }, text }) =>
        response.writeHead(status, headers).end(text),
      // Of a request that has arrived, `request.destroy()` leaves the connection open.
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stopAt(stop) {
      const set: Trap & { stop: Stop } = {
        stop,
        caught: null,
        release() {
          if (trap === set) trap = null
        },
      }
      trap = set
      return set
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
