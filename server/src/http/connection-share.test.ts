import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectionsPerAddressMax } from '../lib/limits.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'

let test: TestApp
let port: number
const sockets: Socket[] = []

beforeAll(async () => {
  test = await createTestApp()
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  port = (test.app.server.address() as AddressInfo).port
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await test.close()
})

function open(localAddress: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

async function statusOf(localAddress: string): Promise<string> {
  const socket = open(localAddress)
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  let answer = ''
  socket.on('data', (part) => {
    answer += part
  })
  await once(socket, 'close')
  return answer.slice(0, 15)
}

it('T68 one address that holds many connections leaves room for the others', async () => {
  for (let i = 0; i < connectionsPerAddressMax; i += 1) await once(open('127.0.0.1'), 'connect')
  expect(await statusOf('127.0.0.1')).toBe('')
  expect(await statusOf('127.0.0.2')).toBe('HTTP/1.1 200 OK')
  for (const socket of sockets.splice(0)) socket.destroy()
  await expect.poll(() => statusOf('127.0.0.1')).toBe('HTTP/1.1 200 OK')
})
