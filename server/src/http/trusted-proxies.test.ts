import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Type } from 'typebox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../config/config.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import type { App } from './endpoints.ts'
import { route } from './route.ts'

let test: TestApp
let shell: App

beforeAll(async () => {
  test = await createTestApp()
})
afterEach(() => shell.close())
afterAll(() => test.close())

/** A shell that lets three requests a minute of one sender pass and returns the address that it takes for the sender. */
async function listen(trustProxy: Config['trustProxy']): Promise<void> {
  const config = { ...test.deps.config, trustProxy, rateLimitPerMinute: 3 }
  shell = await createTestShell({ ...test.deps, config }, (app) => {
    const answers = { 200: Type.Object({}, { additionalProperties: true }) }
    const spec = route({ operationId: 'whoAmI', summary: 'Test', tag: 'Test', access: 'public', answers })
    app.get('/who', spec, async (request) => ({ ip: request.ip }))
  })
  await shell.listen({ port: 0, host: '127.0.0.1' })
}

/** One request of its own connection, as the proxy at 127.0.0.1 passes it on. */
function ask(forwardedFor: string | null): Promise<{ status: number; ip: string | null }> {
  const { port } = shell.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const headers = forwardedFor === null ? {} : { 'x-forwarded-for': forwardedFor }
    const request = httpRequest({ host: '127.0.0.1', port, path: '/who', agent: false, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        const status = response.statusCode ?? 0
        resolve({ status, ip: status === 200 ? JSON.parse(text).ip : null })
      })
    })
    request.on('error', reject)
    request.end()
  })
}

describe('T67 the sender of a request', () => {
  it.each([
    ['no proxy', false, '203.0.113.7', '127.0.0.1'],
    ['one proxy, which saw the sender', 1, '203.0.113.7', '203.0.113.7'],
    ['one proxy, which saw a sender with a forged header', 1, '10.9.9.9, 203.0.113.7', '203.0.113.7'],
    ['two proxies', 2, '10.9.9.9, 203.0.113.7, 10.0.0.1', '203.0.113.7'],
    ['the address of the proxy', ['127.0.0.1'], '10.9.9.9, 203.0.113.7', '203.0.113.7'],
    ['the network of two proxies', ['127.0.0.0/8', '10.0.0.0/24'], '10.9.9.9, 203.0.113.7, 10.0.0.1', '203.0.113.7'],
    ['the address of another proxy', ['10.0.0.1'], '203.0.113.7', '127.0.0.1'],
    ['one proxy, which added nothing', 1, null, '127.0.0.1'],
    ['one proxy, and nonsense', 1, 'a, b, <script>', '<script>'],
  ] as const)('behind %s', async (_what, trustProxy, forwardedFor, ip) => {
    await listen(trustProxy as Config['trustProxy'])
    expect(await ask(forwardedFor)).toEqual({ status: 200, ip })
  })

  it.each([
    ['no proxy', false, (forged: string) => forged],
    ['one proxy', 1, (forged: string) => `${forged}, 203.0.113.7`],
    ['a named proxy', ['127.0.0.1'], (forged: string) => `${forged}, 203.0.113.7`],
  ] as const)('behind %s does not get another limit by a forged address', async (_what, trustProxy, forwardedFor) => {
    await listen(trustProxy as Config['trustProxy'])
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1) statuses.push((await ask(forwardedFor(`198.51.100.${i}`))).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })

  it('does not get another limit by another address of the network of an IPv6 host', async () => {
    await listen(1)
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1) statuses.push((await ask(`2001:db8:0:1::${i}`)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect((await ask('2001:db8:0:2::1')).status).toBe(200)
  })
})
