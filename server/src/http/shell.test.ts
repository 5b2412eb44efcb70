import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../app.ts'
import { openDatabase } from '../db/client.ts'
import { badRequest } from '../lib/errors.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import { insertVault } from '../testing/vault-fixture.ts'
import type { App } from './endpoints.ts'
import { route } from './route.ts'
import { Closed, DecimalAmount, Name, Nullable, pageQuery } from './schema.ts'

let test: TestApp
let person: Person
let shell: App

const Echo = Closed({ text: Type.String(), when: Type.Optional(Type.String({ format: 'date-time' })) })
const Any = Type.Object({}, { additionalProperties: true })

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  shell = await createTestShell(test.deps, addTestRoutes)
})
afterAll(async () => {
  await shell.close()
  await test.close()
})

describe('the shell', () => {
  it('reads JSON and answers JSON, with the headers that keep browsers safe', async () => {
    const answer = await shell.inject({ method: 'POST', url: '/echo', payload: { text: 'ä€😀' } })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ text: 'ä€😀' })
    expect(answer.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(/^default-src 'self';.*frame-ancestors 'none'/),
    })
    expect(answer.headers['x-powered-by']).toBeUndefined()
    expect(answer.headers['strict-transport-security']).toBeUndefined()
  })

  it('sends Strict-Transport-Security where people reach it by HTTPS', async () => {
    const config = { ...test.deps.config, publicUrl: 'https://vault.example.org' }
    const app = await createTestShell({ ...test.deps, config }, addTestRoutes)
    const answer = await app.inject({ method: 'POST', url: '/echo', payload: { text: 'x' } })
    expect(answer.headers['strict-transport-security']).toContain('max-age=')
    await app.close()
  })

  it('refuses a route that does not declare its access level', async () => {
    const build = createTestShell(test.deps, (app) => void app.get('/open', async () => 'x'))
    await expect(build).rejects.toThrow('/open does not declare its access level')
  })
})

describe('T51 errors in the specified body', () => {
  it('answers an unknown route', async () => {
    const answer = await test.anonymous.get('/nowhere')
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({
      error: 'Not Found',
      message: 'There is no such route',
      code: 404,
      reason: 'no_such_route',
      requestId: answer.headers['x-request-id'],
    })
  })

  it.each([
    ['GET', '/echo', 'POST'],
    ['DELETE', '/things/17', 'GET, HEAD, PUT'],
    ['OPTIONS', '/echo', 'POST'],
  ] as const)('answers %s %s with 405 and Allow', async (method, url, allow) => {
    const answer = await shell.inject({ method, url })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toBe(allow)
    expect(answer.json()).toEqual({
      error: 'Method Not Allowed',
      message: `${method} is not possible here`,
      code: 405,
      reason: 'method_not_allowed',
      requestId: answer.headers['x-request-id'],
    })
  })

  it.each([
    ['bad JSON', '{"text": ', 'body: is not valid JSON'],
    ['two documents', '{"text":"a"}{"text":"b"}', 'body: is not valid JSON'],
    ['no body', undefined, 'text: is required'],
    ['an empty body', '', 'text: is required'],
    ['null', 'null', 'body: must be object'],
    ['an array', '[]', 'body: must be object'],
    ['a byte order mark', '\ufeff{"text":"a"}', null],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), 'body: is not valid UTF-8'],
    ['a key given twice', '{"text":"a","text":"b"}', 'body: the key "text" is given twice'],
    ['a key given twice by an escape', '{"text":"a","\\u0074ext":"b"}', 'body: the key "text" is given twice'],
    ['__proto__', '{"text":"a","__proto__":{"isAdmin":true}}', 'body: the key "__proto__" is not allowed'],
    ['deep nesting', `{"text":${'['.repeat(100)}${']'.repeat(100)}}`, 'body: is nested deeper than 32 levels'],
    ['very deep nesting', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'body: is nested deeper than 32 levels'],
    ['an unknown field', '{"text":"a","txet":"b"}', 'txet: is not a field of this request'],
    ['a missing field', '{}', 'text: is required'],
    ['a number for a string', '{"text":1}', 'text: must be string'],
    ['a day that does not exist', '{"text":"a","when":"2026-02-30T00:00:00Z"}', 'when: must match format "date-time"'],
  ])('answers %s', async (_what, payload, message) => {
    const answer = await shell.inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'application/json' },
      ...(payload === undefined ? {} : { payload }),
    })
    if (message === null) return expect(answer.json()).toEqual({ text: 'a' })
    expect(answer.statusCode).toBe(400)
    const field = message.split(': ')[0]
    expect(answer.json()).toEqual({
      error: 'Bad Request',
      message,
      code: 400,
      reason: field === 'body' && message !== 'body: must be object' ? 'malformed_body' : 'validation_failed',
      requestId: answer.headers['x-request-id'],
      details: [{ field, message: message.slice(`${field}: `.length) }],
    })
  })

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/json; charset=iso-8859-1'],
    ['application/jsonp'],
    [''],
  ])('answers the content type %j with 415', async (type) => {
    const answer = await shell.inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': type },
      payload: '{"text":"a"}',
    })
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toEqual({
      error: 'Unsupported Media Type',
      message: expect.any(String),
      code: 415,
      reason: 'unsupported_media_type',
      requestId: answer.headers['x-request-id'],
    })
  })

  it('accepts the charset that JSON has anyway', async () => {
    const answer = await shell.inject({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'application/json; charset="UTF-8"' },
      payload: '{"text":"a"}',
    })
    expect(answer.statusCode).toBe(200)
  })

  it('answers a body of 10 MB with 413', async () => {
    const answer = await shell.inject({ method: 'POST', url: '/echo', payload: { text: 'x'.repeat(10_000_000) } })
    expect(answer.statusCode).toBe(413)
    expect(answer.json()).toMatchObject({ error: 'Payload Too Large', code: 413, reason: 'body_too_large' })
  })

  it('names every fault of a body, once each', async () => {
    const payload = { text: 7, when: 'never', txet: 'b', amount: '1.0', name: '' }
    const answer = await shell.inject({ method: 'POST', url: '/many', payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([
      { field: 'must', message: 'is required' },
      { field: 'txet', message: 'is not a field of this request' },
      { field: 'text', message: 'must be string' },
      { field: 'when', message: 'must match format "date-time"' },
      { field: 'name', message: 'must NOT have fewer than 1 characters' },
    ])
  })

  it('names only the first fault of a large body, and never more than 100', async () => {
    const many = (length: number) => ({ must: 'x', list: Array.from({ length }, () => 1) })
    const large = await shell.inject({ method: 'POST', url: '/many', payload: many(5_000) })
    expect(large.json().details).toEqual([{ field: 'list.0', message: 'must be string' }])
    const small = await shell.inject({ method: 'POST', url: '/many', payload: many(500) })
    expect(small.json().details).toHaveLength(100)
  })

  it('T71 refuses invisible text in any field, value or key', async () => {
    const payload = { must: 'a\u202eb', list: ['ok', 'a\u200bb'], any: { name: 'a\nb', comment: 'a\nb', 'k\u2066': 1 } }
    const answer = await shell.inject({ method: 'POST', url: '/many', payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([
      { field: 'must', message: 'must not hold the invisible character U+202E' },
      { field: 'list.1', message: 'must not hold the invisible character U+200B' },
      { field: 'any.name', message: 'must be one line' },
      { field: 'any', message: 'must not hold the invisible character U+2066' },
    ])
  })

  it.each([
    ['limit=1e1', 'limit', 'must be integer'],
    ['limit=0x10', 'limit', 'must be integer'],
    ['limit=%205', 'limit', 'must be integer'],
    ['limit=+5', 'limit', 'must be integer'],
    ['limit=05', 'limit', 'must be integer'],
    ['limit=5.0', 'limit', 'must be integer'],
    ['limit=', 'limit', 'must be integer'],
    ['limit=0', 'limit', 'must be >= 1'],
    ['limit=1&limit=2', 'limit', 'may be given only once'],
    ['flag=1', 'flag', 'must be boolean'],
    ['flag=True', 'flag', 'must be boolean'],
  ])('answers the query %s', async (query, field, message) => {
    const answer = await shell.inject({ method: 'GET', url: `/list?${query}` })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([{ field, message }])
  })

  it('reads the parameters of a query by their types', async () => {
    const read = async (query: string) => (await shell.inject({ method: 'GET', url: `/list?${query}` })).json()
    expect(await read('limit=7&flag=false&word=7&words=a')).toEqual({ limit: 7, flag: false, word: '7', words: ['a'] })
    expect(await read('words=a&words=b,c')).toEqual({ limit: 20, words: ['a', 'b,c'] })
  })

  it('names every fault of a query', async () => {
    const answer = await shell.inject({ method: 'GET', url: '/list?limit=x&flag=y&wrod=z&word=a&word=b' })
    expect(answer.json().details).toEqual([
      { field: 'wrod', message: 'is not a query parameter of this endpoint' },
      { field: 'limit', message: 'must be integer' },
      { field: 'flag', message: 'must be boolean' },
      { field: 'word', message: 'may be given only once' },
    ])
  })

  it('does not accept null in place of no body', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await shell.inject({ method: 'PUT', url: '/things/17', headers, payload: 'null' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([{ field: 'body', message: 'must be empty: this endpoint takes no body' }])
  })

  it('answers an unknown query parameter by its name', async () => {
    const answer = await shell.inject({ method: 'GET', url: '/things/17?acess=all' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().details).toEqual([{ field: 'acess', message: 'is not a query parameter of this endpoint' }])
  })

  it.each(['/things/%zz', '/things/%ff', '/%', '/things/%E0%A4%A'])('answers the malformed path %s', async (url) => {
    const answer = await shell.inject({ method: 'GET', url })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'Bad Request',
      message: 'path: is not a valid URL path',
      code: 400,
      reason: 'malformed_request',
      requestId: answer.headers['x-request-id'],
      details: [{ field: 'path', message: 'is not a valid URL path' }],
    })
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('answers a part of a path that is too long', async () => {
    const answer = await shell.inject({ method: 'GET', url: `/things/${'a'.repeat(300)}` })
    expect(answer.statusCode).toBe(414)
    expect(answer.json()).toMatchObject({ error: 'URI Too Long', code: 414, reason: 'path_too_long' })
  })

  it('answers a NUL character that reaches the database with 400', async () => {
    const answer = await shell.inject({ method: 'GET', url: '/find?text=a%00b' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ details: [{ message: 'contains a character that cannot be stored' }] })
  })

  it.each(['/throw/error', '/throw/sql', '/throw/nothing', '/throw/text'])(
    'answers the unexpected at %s with a request id and nothing else',
    async (url) => {
      const answer = await shell.inject({ method: 'GET', url })
      expect(answer.statusCode).toBe(500)
      expect(answer.json()).toEqual({
        error: 'Internal Server Error',
        message: 'An unexpected error occurred; the log of the service has details under this request id',
        code: 500,
        reason: 'internal_error',
        requestId: answer.headers['x-request-id'],
      })
      expect(answer.body).not.toMatch(/select|relation|\.ts|\.js|at |\/|secret/)
    },
  )

  it('answers a known error with its own words', async () => {
    const answer = await shell.inject({ method: 'GET', url: '/throw/known' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toBe('amount: must be a decimal string')
  })

  it('answers 503 with Retry-After when the database is gone', async () => {
    const { db } = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/none', onError: () => {} })
    const app = await createTestShell({ ...test.deps, db }, addTestRoutes)
    const answer = await app.inject({
      method: 'GET',
      url: '/mine',
      headers: { authorization: `Bearer ${person.token}` },
    })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.json()).toEqual({
      error: 'Service Unavailable',
      message: 'The database cannot be reached right now',
      code: 503,
      reason: 'database_unreachable',
      requestId: answer.headers['x-request-id'],
    })
    await app.close()
    await db.destroy()
  })
})

describe('HEAD', () => {
  it('answers as GET does, without the body', async () => {
    for (const [url, headers] of [
      ['/things/17', {}],
      ['/things/17?acess=all', {}],
      ['/mine', {}],
      ['/mine', { authorization: `Bearer ${person.token}` }],
      ['/throw/error', {}],
      ['/nowhere', {}],
    ] as const) {
      const [get, head] = await Promise.all(
        (['GET', 'HEAD'] as const).map((method) => shell.inject({ method, url, headers })),
      )
      expect(head!.statusCode, url).toBe(get!.statusCode)
      expect(head!.body, url).toBe('')
      expect(head!.headers['content-type'], url).toBe(get!.headers['content-type'])
    }
  })

  it('does not make a file', async () => {
    const answer = await shell.inject({ method: 'HEAD', url: '/file' })
    expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([200, '', 'text/csv'])
    expect(file.destroyed).toBe(true)
  })
})

describe('a body that the endpoint does not take', () => {
  it('is refused with 400, because it would be ignored; an empty object is accepted', async () => {
    const person = await test.signIn('somebody@example.org')
    const refused = await person.post('/auth/sign-out', { everywhere: true })
    expect(refused.status).toBe(400)
    expect(refused.body.details).toEqual([{ field: 'body', message: 'must be empty: this endpoint takes no body' }])
    expect((await person.post('/auth/sign-out', {})).status).toBe(204)
  })
})

describe('T51 input that is not an HTTP request', () => {
  let port: number
  beforeAll(async () => {
    await shell.listen({ port: 0, host: '127.0.0.1' })
    port = (shell.server.address() as { port: number }).port
  })

  it.each([
    ['nonsense', 'hello\r\n\r\n', 400, 'Bad Request'],
    [
      'a header that is too large',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
    [
      'two lengths',
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'Bad Request',
    ],
    ['a malformed URL', 'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'Bad Request'],
    ['an unknown method', 'BREW /echo HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'Bad Request'],
  ])('answers %s', async (_what, request, status, error) => {
    const answer = await sendRaw(port, request)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} ${error}\r\n`))
    expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8')
    const [, requestId] = /^x-request-id: ([0-9a-f-]{36})$/im.exec(head) ?? []
    const reason = status === 431 ? 'headers_too_large' : 'malformed_request'
    expect(JSON.parse(body)).toMatchObject({ error, message: expect.any(String), code: status, reason, requestId })
  })
})

describe('the rate limit', () => {
  let limited: App
  let other: Person
  beforeAll(async () => {
    other = await test.signIn('other@example.org')
    limited = await createTestShell(
      { ...test.deps, config: { ...test.deps.config, rateLimitPerMinute: 3 } },
      addTestRoutes,
    )
  })
  afterAll(() => limited.close())

  it('answers 429 with Retry-After in the specified body, per caller', async () => {
    const get = (token: string) =>
      limited.inject({ method: 'GET', url: '/mine', headers: { authorization: `Bearer ${token}` } })
    for (let i = 0; i < 3; i += 1) expect((await get(person.token)).statusCode).toBe(200)
    const answer = await get(person.token)
    expect(answer.statusCode).toBe(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(answer.json()).toEqual({
      error: 'Too Many Requests',
      message: 'Too many requests; try again later',
      code: 429,
      reason: 'rate_limited',
      requestId: answer.headers['x-request-id'],
    })
    expect((await get(other.token)).statusCode).toBe(200)
  })

  it('lets a service send ten times as many requests', async () => {
    const { administratorsId } = await insertVault(test, 'service-vault', person)
    const service = { name: 'Robot', groupIds: [administratorsId] }
    const { token } = (await person.post('/vaults/service-vault/service-tokens', service)).body
    const statuses: number[] = []
    for (let i = 0; i < 31; i += 1) {
      const headers = { authorization: `Bearer ${token}` }
      statuses.push((await limited.inject({ method: 'GET', url: '/mine', headers })).statusCode)
    }
    expect(statuses).toEqual([...Array(30).fill(200), 429])
  })

  it('T69 does not count the events of the wallet service, whose address is one for all', async () => {
    const app = await createApp({ ...test.deps, config: { ...test.deps.config, rateLimitPerMinute: 1 } })
    for (let i = 0; i < 3; i += 1) {
      const answer = await app.inject({ method: 'POST', url: '/webhooks/wallet', payload: { kind: 'OTHER', tx: {} } })
      expect(answer.statusCode).not.toBe(429)
    }
    await app.close()
  })

  it('counts anonymous callers by address, with any tokens they try', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1) {
      const headers = { authorization: `Bearer ${'x'.repeat(40)}${i}` }
      statuses.push((await limited.inject({ method: 'GET', url: '/mine', headers })).statusCode)
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429])
  })
})

let file: Readable
/** A file without an end. */
async function* endless(): AsyncGenerator<string> {
  for (;;) yield 'a,b\n'.repeat(1_000)
}

function addTestRoutes(app: App): void {
  const spec = { summary: 'Test', tag: 'Test', answers: { 200: Any } } as const
  app.post(
    '/echo',
    route({ ...spec, operationId: 'echo', access: 'public', body: Echo }),
    async (request) => request.body,
  )
  const Many = Closed({
    must: Type.String(),
    text: Type.Optional(Nullable(Type.String())),
    when: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
    amount: Type.Optional(Nullable(DecimalAmount)),
    name: Type.Optional(Nullable(Name)),
    list: Type.Optional(Type.Array(Type.String())),
    any: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  })
  app.post('/many', route({ ...spec, operationId: 'many', access: 'public', body: Many }), async () => ({}))
  const List = Closed({
    limit: pageQuery.limit,
    flag: Type.Optional(Type.Boolean()),
    word: Type.Optional(Type.String()),
    words: Type.Optional(Type.Array(Type.String())),
  })
  app.get(
    '/list',
    route({ ...spec, operationId: 'list', access: 'public', querystring: List }),
    async (request) => request.query,
  )
  app.get('/things/:id', route({ ...spec, operationId: 'getThing', access: 'public' }), async () => ({}))
  app.put('/things/:id', route({ ...spec, operationId: 'putThing', access: 'public' }), async () => ({}))
  app.get('/file', route({ ...spec, operationId: 'getFile', access: 'public' }), async (_request, reply) => {
    file = Readable.from(endless())
    return reply.type('text/csv').send(file as never)
  })
  app.get('/mine', route({ ...spec, operationId: 'getMine', access: 'caller', scope: 'read' }), async () => ({}))
  const Find = Closed({ text: Type.String() })
  app.get('/find', route({ ...spec, operationId: 'find', access: 'public', querystring: Find }), async (request) => {
    const { rows } = await sql`select ${request.query.text}::text as text`.execute(test.deps.db)
    return rows[0] as object
  })
  const failures: Record<string, () => unknown> = {
    error: () => new Error('the secret at /srv/app/server.ts'),
    sql: () => sql`select secret from no_such_table`.execute(test.deps.db),
    nothing: () => undefined,
    text: () => 'a thrown secret',
    known: () => badRequest('amount', 'must be a decimal string'),
  }
  for (const [name, fail] of Object.entries(failures)) {
    app.get(`/throw/${name}`, route({ ...spec, operationId: `throw-${name}`, access: 'public' }), async () => {
      throw await fail()
    })
  }
}

function sendRaw(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
