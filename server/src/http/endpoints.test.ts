import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { createTestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import { type Endpoints, endpoints } from './endpoints.ts'
import { accepted, created } from './mutate.ts'
import { Closed } from './schema.ts'

const Thing = Closed({ id: Type.String(), fee: Type.String() }, { $id: 'Thing' })
const Plain = Closed({ id: Type.String(), fee: Type.String() })
/** A body that has the fields of an answer. */
const Look = Closed({ status: Type.Integer(), body: Type.String() })
const withFee = Closed({ fee: Type.String() })
const documented = { summary: 'For this test' }
type NoScopes = Record<never, never>

/**
 * Declarations that must not compile. `npm run typecheck` reads this file. It reports an unused `@ts-expect-error` where a
 * declaration compiles.
 * tidy: long because it is a list.
 */
export function refusedByTheCompiler(
  api: Endpoints<'public', NoScopes>,
  reads: Endpoints<'member', { reads: 'read' }>,
  writes: Endpoints<'member', { writes: 'operate' }>,
): void {
  // A field is missing.
  api.get('missing', '/missing', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async () => ({ id: '1' }),
  })
  // A field has another type.
  api.get('mistyped', '/mistyped', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async () => ({ id: '1', fee: 42 }),
  })
  // The same in a write.
  api.post('mistypedWrite', '/mistyped', {
    ...documented,
    answers: { 201: Thing, 202: Plain },
    // @ts-expect-error
    handler: async () => ({ id: '1', fee: 42 }),
  })
  // A status is not documented.
  api.post('undocumented', '/undocumented', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async () => created({ id: '1', fee: '42' }),
  })
  // The handler does not say which of two answers it gives.
  api.post('ambiguous', '/ambiguous', {
    ...documented,
    answers: { 200: Thing, 201: Thing },
    // @ts-expect-error
    handler: async () => ({ id: '1', fee: '42' }),
  })
  // The handler answers a body that is not documented.
  api.delete('silent', '/silent', {
    ...documented,
    answers: { 204: null },
    // @ts-expect-error
    handler: async () => ({ id: '1', fee: '42' }),
  })
  // The same in a write that opens its transaction itself, with `async` and without.
  api.send.post('sent', '/sent', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: (_input, { write }) => write(async () => ({ id: '1' })),
  })
  api.send.post('sentLater', '/sent', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_input, { write }) => {
      return await write(async () => ({ id: '1' }))
    },
  })
  api.send.put('answeredOnce', '/sent', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_input, { answerOnce }) => answerOnce(async () => ({ nonsense: true })),
  })
  // One of two branches has a wrong body.
  api.send.patch('sentInBranches', '/sent', {
    ...documented,
    answers: { 201: Thing, 202: withFee },
    // @ts-expect-error
    handler: async (_input, { write }) => {
      const fee: string = await Promise.resolve('42')
      if (fee === '0') return write(async () => accepted({ fee }))
      return write(async () => ({ id: '1' }))
    },
  })
  // Nothing was sent.
  api.send.delete('unsent', '/sent', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async () => ({ id: '1', fee: '42' }),
  })
  // The reply is not an answer of a known type.
  api.send.post('sentByReply', '/sent', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_input, { reply }) => reply.send({ nonsense: true }),
  })
  // The same in a calculation, and in a read that documents no file.
  api.calculate('calculated', '/calculated', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async () => ({ id: '1' }),
  })
  api.get('readByReply', '/read', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_db, _input, { reply }) => reply.send({ nonsense: true }),
  })
  // An item of a list is wrong.
  api.list('list', '/list', {
    ...documented,
    item: Thing,
    load: async () => [{ id: '1', created_at: new Date(0) }],
    // @ts-expect-error
    present: ({ id }) => ({ id }),
  })
  // An anonymous caller is not a member.
  api.get('anonymous', '/anonymous', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_db, { member }) => ({ id: member.userId, fee: '42' }),
  })
  // A caller is not a member of a vault.
  api.get('caller', '/caller', {
    ...documented,
    access: 'caller',
    scope: 'read',
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_db, { member }) => ({ id: member.userId, fee: '42' }),
  })
  // A misspelt property would leave the endpoint open to all callers of its group.
  api.get('misspelt', '/misspelt', {
    ...documented,
    // @ts-expect-error
    acces: 'administrator',
    answers: { 200: Thing },
    handler: async () => ({ id: '1', fee: '42' }),
  })
  // A part of the request that no schema admits.
  api.post('body', '/body', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_trx, { body }) => ({ id: body.id, fee: '42' }),
  })
  // A parameter that the path does not name.
  api.get('unnamed', '/things/:id', {
    ...documented,
    answers: { 200: Thing },
    // @ts-expect-error
    handler: async (_db, { params }) => ({ id: params.code, fee: '42' }),
  })
  // A service can call it, and neither the group nor the endpoint gives a scope.
  // @ts-expect-error
  api.get('unscoped', '/unscoped', {
    ...documented,
    access: 'caller',
    answers: { 200: Thing },
    handler: async () => ({ id: '1', fee: '42' }),
  })
  // The same in a group that gives a scope to its writes only, and in one that gives it to its reads only.
  // @ts-expect-error
  writes.list('unscopedList', '/unscoped', {
    ...documented,
    item: Thing,
    load: async () => [{ id: '1', created_at: new Date(0) }],
    present: ({ id }) => ({ id, fee: '42' }),
  })
  // @ts-expect-error
  reads.post('unscopedWrite', '/unscoped', { ...documented, answers: { 204: null }, handler: async () => {} })
  // A scope that does not exist, and one of an endpoint that services cannot call.
  reads.post('unknownScope', '/unscoped', {
    ...documented,
    // @ts-expect-error
    scope: 'everything',
    answers: { 204: null },
    handler: async () => {},
  })
  api.get('uselessScope', '/public', {
    ...documented,
    // @ts-expect-error
    scope: 'read',
    answers: { 200: Thing },
    handler: async () => ({ id: '1', fee: '42' }),
  })
}

describe('an endpoint', () => {
  it('receives the validated parts of the request and answers as it documents', async () => {
    const test = await createTestApp()
    const shell = await createTestShell(test.deps, (app) => {
      const api = endpoints(app, test.deps, 'Test', { access: 'public' })
      api.get('getThing', '/things/:id', {
        ...documented,
        querystring: withFee,
        answers: { 200: Plain },
        handler: async (_db, { params, query }) => ({ id: params.id, fee: query.fee }),
      })
      api.post('createThing', '/things', {
        ...documented,
        body: withFee,
        answers: { 201: Plain, 202: withFee },
        handler: async (_trx, { body }) => (body.fee === '0' ? accepted(body) : { id: '8', fee: body.fee }),
      })
      api.post('look', '/looks', {
        ...documented,
        answers: { 200: Look },
        handler: async () => ({ status: 404, body: 'a body' }),
      })
      api.delete('deleteThing', '/things/:id', { ...documented, answers: { 204: null }, handler: async () => {} })
    })
    const answerOf = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
      const { statusCode, body } = await shell.inject({ method, url, ...(payload === undefined ? {} : { payload }) })
      return [statusCode, body === '' ? null : JSON.parse(body)]
    }
    try {
      expect(await answerOf('GET', '/things/7?fee=1.5')).toEqual([200, { id: '7', fee: '1.5' }])
      expect((await answerOf('GET', '/things/7'))[0]).toBe(400)
      expect(await answerOf('POST', '/things', { fee: '2' })).toEqual([201, { id: '8', fee: '2' }])
      expect(await answerOf('POST', '/things', { fee: '0' })).toEqual([202, { fee: '0' }])
      expect(await answerOf('POST', '/looks')).toEqual([200, { status: 404, body: 'a body' }])
      expect(await answerOf('DELETE', '/things/7')).toEqual([204, null])
    } finally {
      await shell.close()
      await test.close()
    }
  })

  it('is refused without a schema for each parameter of its path', async () => {
    const test = await createTestApp()
    try {
      const registered = createTestShell(test.deps, (app) => {
        endpoints(app, test.deps, 'Test', { access: 'public' }).get('getThing', '/things/:thing', {
          ...documented,
          answers: { 200: Plain },
          handler: async () => ({ id: '7', fee: '1.5' }),
        })
      })
      await expect(registered).rejects.toThrow('No schema describes the parameter thing of /things/:thing')
    } finally {
      await test.close()
    }
  })
})
