import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { tooMuchAtOnce } from '../db/group-commit.ts'
import { toErrorBody } from '../lib/errors.ts'
import {
  bodyBytesMax,
  connectionsMax,
  connectionsPerAddressMax,
  refusedConnectionSeconds,
  refusedConnectionsMax,
} from '../lib/limits.ts'
import { senderOf } from '../lib/sender.ts'

type Connections = { server: Server; hasShares: boolean; log: Pick<Logger, 'warn'> }

const noteMilliseconds = 1_000

/**
 * Limits the open connections of a node, and with `hasShares` the connections of each sender to half of them, so that a single
 * sender cannot lock all others out. A connection beyond a limit is answered with 503 and closed; HTTP never sees it. The
 * number of refused connections that still wait for their answer is limited as well; further ones are cut.
 */
export function limitConnections({ server, hasShares, log }: Connections): void {
  const open = new Map<string, number>()
  let [total, refused, refusedLately, notedAt] = [0, 0, 0, 0]
  server.maxConnections = connectionsMax + refusedConnectionsMax

  const keep = (socket: Socket, sender: string) => {
    total += 1
    open.set(sender, (open.get(sender) ?? 0) + 1)
    socket.once('close', () => {
      total -= 1
      const left = open.get(sender)! - 1
      if (left === 0) open.delete(sender)
      else open.set(sender, left)
    })
  }
  const turnAway = (socket: Socket) => {
    refusedLately += 1
    if (performance.now() - notedAt >= noteMilliseconds) {
      log.warn({ connections: total, refused: refusedLately }, 'connections were refused')
      notedAt = performance.now()
      refusedLately = 0
    }
    if (refused >= refusedConnectionsMax) return socket.destroy()
    refused += 1
    socket.once('close', () => {
      refused -= 1
    })
    refuse(socket)
  }
  const handlers = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const sender = senderOf(socket.remoteAddress ?? '')
    const isOver = total >= connectionsMax || (hasShares && (open.get(sender) ?? 0) >= connectionsPerAddressMax)
    if (isOver) return turnAway(socket)
    keep(socket, sender)
    for (const handle of handlers) handle.call(server, socket)
  })
}

/**
 * Answers when the request begins, because a client takes an early answer for a fault, and at the latest when its time is over.
 * Data that arrives later is read and dropped: to close a socket with unread bytes resets it, and the answer is lost.
 */
function refuse(socket: Socket): void {
  let [isAnswered, bytes] = [false, 0]
  const answer = () => {
    if (isAnswered) return
    isAnswered = true
    socket.end(refusal())
  }
  const timer = setTimeout(() => {
    answer()
    socket.destroySoon()
  }, refusedConnectionSeconds * 1_000)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer()
    bytes += chunk.length
    if (bytes > bodyBytesMax) socket.destroy()
  })
  socket.once('end', () => socket.end())
  socket.once('close', () => clearTimeout(timer))
}

function refusal(): string {
  const error = tooMuchAtOnce()
  const requestId = randomUUID()
  const text = JSON.stringify(toErrorBody(error, requestId))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    ...error.headers,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} Service Unavailable\r\n${lines.join('')}\r\n${text}`
}
