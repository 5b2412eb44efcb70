import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../../server/src/testing/app.ts'
import {
  createStrongroom,
  newIdempotencyKey,
  pages,
  type Schemas,
  type Strongroom,
  StrongroomError,
  take,
} from './client.ts'

let test: TestApp
let person: Person
let baseUrl: string
let strongroom: Strongroom

beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('person@example.org')
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  baseUrl = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`
  strongroom = createStrongroom({ baseUrl, token: person.token })
})
afterAll(() => test.close())

describe('the client', () => {
  it('reads and writes as the caller of its token', async () => {
    const key = newIdempotencyKey()
    const rename = () =>
      strongroom.PATCH('/api/v1/users/me', {
        params: { header: { 'Idempotency-Key': key } },
        body: { name: 'First person' },
      })
    const first = await rename()
    expect(take(first)).toMatchObject({ name: 'First person', email: 'person@example.org' })
    const second = await rename()
    expect(second.response.headers.get('idempotency-replayed')).toBe('true')
    expect(take(second)).toEqual(take(first))
  })

  it('throws what the service refuses, with its status and body', async () => {
    const refused = await strongroom.PATCH('/api/v1/users/me', { body: { nome: 'First person' } as never })
    expect(() => take(refused)).toThrow(StrongroomError)
    expect(refused.error).toMatchObject({ code: 400, details: [{ field: 'nome' }] })
    const anonymous = createStrongroom({ baseUrl })
    const answer = await anonymous.PATCH('/api/v1/users/me', { body: {} })
    expect(() => take(answer)).toThrow('A valid token or session is required')
  })

  it('types the parameters and errors that operations have in common', async () => {
    const list = (limit: number) => strongroom.GET('/api/v1/vaults', { params: { query: { limit } } })
    expect(take(await list(5)).items).toEqual([])
    // @ts-expect-error A limit is a number: the compiler refuses what the service refuses.
    const { error } = await list('many')
    expectTypeOf(error).toEqualTypeOf<Schemas['Error'] | undefined>()
    expect(error).toMatchObject({ details: [{ field: 'limit' }] })
  })

  it('reports an answer that is not ours', async () => {
    const behindProxy = createStrongroom({
      baseUrl,
      fetch: async () =>
        new Response('<h1>Bad Gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } }),
    })
    const answer = await behindProxy.GET('/healthz')
    expect(() => take(answer)).toThrow('The service answered 502')
  })

  it('walks the pages of a list until it ends', async () => {
    const asked: (string | undefined)[] = []
    const answers = [
      { items: [1, 2], nextCursor: 'a' },
      { items: [3], nextCursor: null },
    ]
    const load = async (cursor: string | undefined) => {
      asked.push(cursor)
      return { data: answers[asked.length - 1]!, response: new Response() }
    }
    const seen: number[][] = []
    for await (const page of pages(load)) seen.push(page)
    expect(seen).toEqual([[1, 2], [3]])
    expect(asked).toEqual([undefined, 'a'])
  })

  it('throws from within a walk', async () => {
    const load = async () => ({
      error: { error: 'Forbidden', message: 'No', code: 403 },
      response: new Response(null, { status: 403 }),
    })
    const walk = pages<never>(load)
    await expect(walk.next()).rejects.toMatchObject({ status: 403, message: 'No' })
  })
})
