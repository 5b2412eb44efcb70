import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { type AppError, toErrorBody } from '../lib/errors.ts'

type Shedding = { path: string; isFull: () => boolean; refusal: AppError; log: Pick<Logger, 'warn'> }

const noteMilliseconds = 1_000

/**
 * Refuses requests for `path` while the queue is full, before any other work, so that refused requests delay accepted requests
 * as little as possible. Logs the number of refused requests at most once a second.
 */
export function shedLoad(server: Server, { path, isFull, refusal, log }: Shedding): void {
  const head = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...refusal.headers,
  }
  let refused = 0
  let notedAt = 0
  const refuse = (response: ServerResponse) => {
    const id = randomUUID()
    const text = JSON.stringify(toErrorBody(refusal, id))
    response
      .writeHead(refusal.status, { ...head, 'content-length': Buffer.byteLength(text), 'x-request-id': id })
      .end(text)
    refused += 1
    if (performance.now() - notedAt < noteMilliseconds) return
    log.warn({ path, refused, status: refusal.status, requestId: id }, 'requests were refused')
    notedAt = performance.now()
    refused = 0
  }
  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === path && isFull()) return refuse(response)
    for (const handle of handlers) handle.call(server, request, response)
  })
}
