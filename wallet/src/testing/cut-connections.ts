import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Starts a relay that passes bytes on to a node. It can cut the connections, and counts them. */
export async function startCuttable(rpcUrl: string) {
  const sockets = new Set<Socket>()
  const control = { isDown: false, connections: 0 }
  const server = createServer((near) => {
    control.connections += 1
    if (control.isDown) return void near.destroy()
    const far = connect(Number(new URL(rpcUrl).port), '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    control,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
