import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium } from '../../server/src/testing/launch-chromium.ts'
import { buildSdk } from './testing/build.ts'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))

let server: Server
let browser: Browser
let origin: string
/** The requests to the API, in their order. */
const sent: { method: string; url: string; key: string | undefined; body: string }[] = []

beforeAll(async () => {
  buildSdk()
  const bundle = await rolldown({ input: join(dist, 'strongroom.js'), platform: 'browser', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'esm' })
  server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    if (url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>page</p>')
    if (url === '/sdk.js') {
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(output[0].code)
    }
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      sent.push({ method, url, key: headers['idempotency-key'] as string | undefined, body })
      const isFirstOrder = method === 'POST' && sent.filter((request) => request.method === 'POST').length === 1
      if (isFirstOrder) return response.writeHead(503, { 'content-type': 'application/json' }).end('{"message":"busy"}')
      if (url.includes('format=pdf'))
        return response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7')
      const answer =
        method === 'POST'
          ? { id: 'created' }
          : { items: [{ id: url }], nextCursor: url.includes('cursor') ? null : 'next' }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  server?.closeAllConnections()
  server?.close()
})

it('works in a browser: lists, writes with retries, files, webhooks', async () => {
  const page = await browser.newPage()
  await page.goto(origin)
  // As text, because the browser, and not this file, resolves the import.
  const result = await page.evaluate(`(async () => {
    const sdk = await import('/sdk.js')
    const vault = sdk.createStrongroom({ baseUrl: location.origin + '/api/v1/' }).vault('treasury')
    const ids = []
    for await (const { id } of vault.transfers.list({ limit: 1 })) ids.push(id)
    const { id } = await vault.transfers.create({ fromAddressId: 'a', toAddress: 'b', amount: '1' })
    const file = await vault.reports.transactionActivity({ format: 'pdf' })
    const headers = await sdk.signWebhook('secret', { id: 'evt_1', body: '{}' })
    const verified = await sdk.verifyWebhook('secret', { headers, body: '{}' })
    const fault = await sdk.createStrongroom({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).vaults.list().page()
      .catch((error) => error instanceof sdk.ConnectionError)
    const late = await sdk.createStrongroom({ baseUrl: location.origin, timeoutMs: 0 }).vaults.list().page()
      .catch((error) => error.name)
    return { ids, id, text: await (await file.blob()).text(), verified: verified.id, fault, late }
  })()`)
  expect(result).toEqual({
    ids: ['/api/v1/vaults/treasury/transfers?limit=1', '/api/v1/vaults/treasury/transfers?limit=1&cursor=next'],
    id: 'created',
    text: '%PDF-1.7',
    verified: 'evt_1',
    fault: true,
    late: 'TimeoutError',
  })
  const orders = sent.filter(({ method }) => method === 'POST')
  expect(orders).toHaveLength(2)
  expect(orders[1]).toEqual(orders[0])
  expect(orders[0]).toMatchObject({
    key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    body: expect.stringContaining('"amount":"1"'),
  })
})
