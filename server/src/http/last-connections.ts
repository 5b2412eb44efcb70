import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { lastRequestsMilliseconds, quietConnectionMilliseconds } from '../lib/limits.ts'

const lookMilliseconds = 250

/**
 * Ends the connections that keep a node from stopping. Node.js waits for connections on which nothing was ever sent, such as browsers
 * and proxies open in advance, and for requests without an end.
 */
export function endLastConnections(app: Pick<FastifyInstance, 'server' | 'addHook'>): void {
  const openedAt = new Map<Socket, number>()
  app.server.on('connection', (socket: Socket) => {
    openedAt.set(socket, performance.now())
    socket.once('close', () => openedAt.delete(socket))
  })
  app.addHook('preClose', async () => {
    if (!app.server.listening) return
    const looking = setInterval(() => {
      const tooOld = performance.now() - quietConnectionMilliseconds
      for (const [socket, at] of openedAt) if (socket.bytesRead === 0 && at < tooOld) socket.destroy()
    }, lookMilliseconds)
    const ending = setTimeout(() => (app.server as Server).closeAllConnections(), lastRequestsMilliseconds)
    for (const timer of [looking, ending]) timer.unref()
    app.server.once('close', () => {
      clearInterval(looking)
      clearTimeout(ending)
    })
  })
}
