import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// biome-ignore lint/suspicious/noExplicitAny: a service that lies answers anything.
type Json = any
type Headers = IncomingMessage['headers']
/** Returns the body that replaces the true one, for the sender of these headers. */
export type Lie = (path: string, body: Json, headers: Headers) => Json
export type Received = { method: string; path: string; body: Json; headers: Headers }

/** A service that was taken over: it serves the honest pages, passes every request on, and answers what the attacker wants. */
export type LyingService = {
  url: string
  /** The requests of clients, oldest first. */
  received: Received[]
  /** The lie in its answers; null when it is honest. */
  lie: Lie | null
  close(): Promise<void>
}

export async function startLyingService(target: string, port = 0): Promise<LyingService> {
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const sent = await bytesOf(incoming)
    const { method = 'GET', url: path = '/', headers } = incoming
    service.received.push({ method, path, body: jsonOf(sent, headers), headers })
    const answer = await ask(target, { method, path, headers }, sent)
    const bytes = await bytesOf(answer)
    const { 'content-length': _, 'transfer-encoding': __, ...rest } = answer.headers
    const told = service.lie === null ? bytes : lieAbout(service.lie, { path, headers }, bytes, answer.headers)
    outgoing.writeHead(answer.statusCode ?? 502, rest).end(told)
  }
  // A client on a busy machine would send on a connection that is just being closed.
  server.keepAliveTimeout = 300_000
  server.listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const service: LyingService = { url, received: [], lie: null, close }
  return service
}

type Asked = { method: string; path: string; headers: Headers }

function ask(target: string, { method, path, headers }: Asked, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, target)
    const sent = request(url, { method, headers: { ...headers, 'accept-encoding': 'identity' } }, resolve)
    sent.once('error', reject)
    sent.end(body)
  })
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

const isJson = (headers: Headers) => (headers['content-type'] ?? '').startsWith('application/json')

const jsonOf = (bytes: Buffer, headers: Headers): Json =>
  isJson(headers) && bytes.length > 0 ? JSON.parse(bytes.toString()) : null

function lieAbout(lie: Lie, request: Omit<Asked, 'method'>, bytes: Buffer, headers: Headers): Buffer {
  const body = jsonOf(bytes, headers)
  return body === null ? bytes : Buffer.from(JSON.stringify(lie(request.path, body, request.headers)))
}
