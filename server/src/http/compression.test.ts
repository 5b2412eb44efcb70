import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import type { App } from './endpoints.ts'
import { route } from './route.ts'

let test: TestApp
let shell: App
const large = { text: 'a long text '.repeat(1_000) }

beforeAll(async () => {
  test = await createTestApp()
  shell = await createTestShell(test.deps, (app) => {
    const spec = { summary: 'Test', tag: 'Test', access: 'public', answers: { 200: Type.Any() } } as const
    app.get('/large', route({ ...spec, operationId: 'large' }), async () => large)
    app.get('/small', route({ ...spec, operationId: 'small' }), async () => ({ text: 'x'.repeat(1_000) }))
    app.get('/page', route({ ...spec, operationId: 'page' }), (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(large.text as never),
    )
    for (const [name, type] of Object.entries(fileTypes)) {
      app.get(`/file/${name}`, route({ ...spec, operationId: name }), (_request, reply) =>
        reply
          .type(type)
          .header('content-length', large.text.length)
          .send(Readable.from([large.text], { objectMode: false }) as never),
      )
    }
    const echo = { ...spec, operationId: 'echo', body: Type.Any() }
    app.post('/echo', route(echo), async (request) => request.body)
  })
})
afterAll(async () => {
  await shell.close()
  await test.close()
})

const fileTypes = {
  pdf: 'application/pdf',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  zip: 'application/zip',
}
const get = (url: string, headers: Record<string, string> = { 'accept-encoding': 'gzip, br' }) =>
  shell.inject({ method: 'GET', url, headers })

describe('an answer', () => {
  it('is compressed in an encoding that the client accepts, which Vary tells caches', async () => {
    const brotli = await get('/large')
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotli.headers.vary).toContain('accept-encoding')
    expect(brotli.rawPayload.length).toBeLessThan(200)
    expect(JSON.parse(brotliDecompressSync(brotli.rawPayload).toString())).toEqual(large)
    const gzip = await get('/large', { 'accept-encoding': 'gzip, br;q=0' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(gunzipSync(gzip.rawPayload).toString())).toEqual(large)
  })

  it.each([{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'zstd' }, { 'accept-encoding': '' }])(
    'is left as it is for a client that sends %j',
    async (headers) => {
      const answer = await get('/large', headers as Record<string, string>)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.json()).toEqual(large)
    },
  )

  it.each(['/small', '/page', '/file/pdf', '/file/xlsx', '/file/csv', '/file/zip'])(
    'of %s is never compressed',
    async (url) => {
      const answer = await get(url)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length)
    },
  )

  it.each([
    ['cross-site', undefined],
    ['same-site', undefined],
    ['same-origin', 'br'],
    ['none', 'br'],
  ])('to a request of a page whose site is %s has the encoding %s', async (site, encoding) => {
    const answer = await get('/large', { 'accept-encoding': 'br', 'sec-fetch-site': site })
    expect(answer.headers['content-encoding']).toBe(encoding)
  })

  it('to HEAD has no body', async () => {
    const answer = await shell.inject({ method: 'HEAD', url: '/large', headers: { 'accept-encoding': 'br' } })
    expect([answer.statusCode, answer.body]).toEqual([200, ''])
  })
})

describe('the body of a request', () => {
  it.each(['gzip', 'br', 'deflate'])('is not decompressed: %s', async (encoding) => {
    const answer = await shell.inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      payload: gzipSync('{"a":1}'),
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().reason).toBe('malformed_body')
  })
})
