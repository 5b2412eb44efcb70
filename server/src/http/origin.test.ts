import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import type { App } from './endpoints.ts'
import { route } from './route.ts'

const publicOrigin = 'http://localhost:8420'
let test: TestApp
let person: Person
let shell: App
let writes = 0

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  shell = await createTestShell(test.deps, (app) => {
    const spec = {
      summary: 'Test',
      tag: 'Test',
      access: 'caller',
      scope: 'operate',
      answers: { 200: Type.Object({}) },
    } as const
    const write = async () => {
      writes += 1
      return {}
    }
    app.get('/thing', route({ ...spec, operationId: 'getThing' }), write)
    app.post('/thing', route({ ...spec, operationId: 'postThing' }), write)
    app.patch('/thing', route({ ...spec, operationId: 'patchThing' }), write)
    app.delete('/thing', route({ ...spec, operationId: 'deleteThing' }), write)
  })
})
afterAll(async () => {
  await shell.close()
  await test.close()
})

describe('T48 the session cookie', () => {
  it.each([
    ['GET', {}],
    ['POST', { origin: publicOrigin, 'content-type': 'application/json' }],
    ['POST', { origin: publicOrigin, 'content-type': 'application/json; charset=utf-8' }],
    ['PATCH', { origin: publicOrigin, 'content-type': 'application/json' }],
    ['POST', { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }],
    ['DELETE', { origin: publicOrigin }],
  ] as const)('permits %s with %j', async (method, headers) => {
    expect(await send(method, headers)).toBe(200)
  })

  const json = { 'content-type': 'application/json' }
  it.each([
    ['POST', { ...json, origin: 'https://evil.example' }],
    ['POST', { ...json, origin: 'https://localhost:8420' }],
    ['POST', { ...json, origin: 'http://localhost:84200' }],
    ['POST', { ...json, origin: 'http://localhost' }],
    ['POST', { ...json, origin: 'null' }],
    ['POST', { ...json, origin: '' }],
    ['POST', { ...json, origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    ['POST', { ...json }],
    ['POST', { ...json, 'sec-fetch-site': 'cross-site' }],
    ['POST', { ...json, 'sec-fetch-site': 'same-site' }],
    ['POST', { ...json, 'sec-fetch-site': 'none' }],
    ['POST', { ...json, referer: `${publicOrigin}/` }],
    ['PATCH', { ...json, origin: 'https://evil.example' }],
    ['DELETE', { origin: 'https://evil.example' }],
    ['DELETE', {}],
    ['POST', { origin: publicOrigin, 'content-type': 'text/plain' }],
    ['POST', { origin: publicOrigin, 'content-type': 'application/x-www-form-urlencoded' }],
    ['POST', { origin: publicOrigin, 'content-type': 'multipart/form-data; boundary=x' }],
    ['POST', { origin: publicOrigin, 'content-type': 'text/plain; application/json' }],
    ['POST', { origin: publicOrigin }],
    ['DELETE', { origin: publicOrigin, 'content-type': 'text/plain' }],
  ] as const)('refuses %s with %j', async (method, headers) => {
    const before = writes
    expect(await send(method, headers)).toBe(403)
    expect(writes).toBe(before)
  })

  it('does not matter for a request with a bearer token', async () => {
    const headers = { authorization: `Bearer ${person.token}`, origin: 'https://evil.example' }
    const answer = await shell.inject({ method: 'POST', url: '/thing', headers })
    expect(answer.statusCode).toBe(200)
  })

  it.each(['Bearer', 'Bearer  ', 'Basic dXNlcjpwYXNz', 'Bearer short', `Token ${'x'.repeat(40)}`, ''])(
    'is not used when there is the Authorization header %j',
    async (authorization) => {
      const headers = { authorization, cookie: `session_token=${person.token}` }
      const answer = await shell.inject({ method: 'GET', url: '/thing', headers })
      expect(answer.statusCode).toBe(401)
    },
  )

  it.each([
    [undefined, 'authentication_required', 'A token or session is required', ''],
    ['Bearer', 'malformed_authorization', 'The Authorization header must be "Bearer <token>"', 'invalid_request'],
    ['Basic eDp5', 'malformed_authorization', 'The Authorization header must be "Bearer <token>"', 'invalid_request'],
    ['Bearer x y', 'malformed_authorization', 'The Authorization header must be "Bearer <token>"', 'invalid_request'],
    ['Bearer x', 'invalid_token', 'The token or session is unknown, expired or revoked', 'invalid_token'],
    ['Bearer ö!', 'invalid_token', 'The token or session is unknown, expired or revoked', 'invalid_token'],
    [
      `Bearer ${'x'.repeat(43)}`,
      'invalid_token',
      'The token or session is unknown, expired or revoked',
      'invalid_token',
    ],
  ])('says what is wrong with the Authorization header %j', async (authorization, reason, message, error) => {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await shell.inject({ method: 'GET', url: '/thing', headers })
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ reason, message })
    const challenge = 'Bearer realm="strongroom"'
    expect(answer.headers['www-authenticate']).toBe(error === '' ? challenge : `${challenge}, error="${error}"`)
  })

  it.each(['', 'x', 'a'.repeat(5_000)])('of the value %j names no person', async (value) => {
    const answer = await shell.inject({ method: 'GET', url: '/thing', headers: { cookie: `session_token=${value}` } })
    expect(answer.statusCode).toBe(401)
  })

  it('ends with its session', async () => {
    const other = await test.signIn('other@example.org')
    const get = () =>
      shell.inject({ method: 'GET', url: '/thing', headers: { cookie: `session_token=${other.token}` } })
    expect((await get()).statusCode).toBe(200)
    await test.deps.db.deleteFrom('sessions').where('user_id', '=', other.userId).execute()
    expect((await get()).statusCode).toBe(401)
  })
})

async function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', headers: Record<string, string>): Promise<number> {
  const hasBody = headers['content-type'] !== undefined
  const answer = await shell.inject({
    method,
    url: '/thing',
    headers: { ...headers, cookie: `session_token=${person.token}` },
    ...(hasBody ? { payload: '{}' } : {}),
  })
  if (answer.statusCode === 403) {
    expect(answer.json()).toMatchObject({ error: 'Forbidden', code: 403 })
    expect(['foreign_origin', 'json_required']).toContain(answer.json().reason)
  }
  return answer.statusCode
}
