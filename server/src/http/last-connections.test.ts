import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createTestApp } from '../testing/app.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

async function open(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

it.each([
  ['on which nothing was sent', '', 6_000],
  ['with a request that does not end', 'GET /healthz HTTP/1.1\r\nHost: local', 9_000],
])('a node stops within ten seconds in spite of a connection %s', async (_, text, millisecondsMax) => {
  const test = await createTestApp({ REQUEST_TIMEOUT_SECONDS: '60' })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const socket = await open(port, text)
  // The node has read what was sent.
  await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
  const ended = once(socket, 'close')
  const begun = performance.now()
  await test.close()
  expect(performance.now() - begun).toBeLessThan(millisecondsMax)
  await ended
})
