import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A proxy in its own process: passes every connection on to the port in its argument. */
const port = Number(process.argv[2])
const server = createServer({ noDelay: true }, (client) => {
  const service = connect({ port, host: '127.0.0.1', noDelay: true })
  client.pipe(service).pipe(client)
  for (const [socket, other] of [
    [client, service],
    [service, client],
  ] as const)
    socket.on('error', () => other.destroy())
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 })
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)
process.once('disconnect', () => process.exit(0))
