import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { createTestApp } from '../testing/app.ts'
import { createTestShell } from '../testing/shell.ts'
import { type Endpoints, endpoints } from './endpoints.ts'
import { created, ok } from './mutate.ts'
import { Closed } from './schema.ts'

const Thing = Closed({ id: Type.String(), fee: Type.String() }, { $id: 'Thing' })
const Plain = Closed({ id: Type.String(), fee: Type.String() })
const byId = Closed({ id: Type.String() })
const withFee = Closed({ fee: Type.String() })
const documented = { summary: 'For this test', access: 'public' as const }

/**
 * What must not compile. `npm run typecheck` reads this file, and a line that compiles after all is an error there, because
 * nothing answers to its `@ts-expect-error`.
 */
export function refusedByTheCompiler(api: Endpoints): void {
  // A field is missing.
  api.get(
    '/missing',
    { operationId: 'missing', ...documented, answers: { 200: Thing } },
    // @ts-expect-error
    async () => ({ id: '1' }),
  )
  // A field has another type.
  api.get(
    '/mistyped',
    { operationId: 'mistyped', ...documented, answers: { 200: Thing } },
    // @ts-expect-error
    async () => ({ id: '1', fee: 42 }),
  )
  // A status is not documented.
  api.post(
    '/undocumented',
    { operationId: 'undocumented', ...documented, answers: { 200: Thing } },
    // @ts-expect-error
    async () => created({ id: '1', fee: '42' }),
  )
  // An item of a list is wrong.
  api.list(
    '/list',
    { operationId: 'list', ...documented, item: Thing },
    async () => [{ id: '1', created_at: new Date(0) }],
    // @ts-expect-error
    ({ id }) => ({ id }),
  )
  // An anonymous caller is no member.
  api.get(
    '/anonymous',
    { operationId: 'anonymous', ...documented, answers: { 200: Thing } },
    // @ts-expect-error
    async (_db, { member }) => ({ id: member.userId, fee: '42' }),
  )
  // A part of the request that no schema admits.
  api.post(
    '/body',
    { operationId: 'body', ...documented, answers: { 200: Thing } },
    // @ts-expect-error
    async (_trx, { body }) => ok({ id: body.id, fee: '42' }),
  )
}

describe('an endpoint', () => {
  it('receives the validated parts of the request and answers as it documents', async () => {
    const test = await createTestApp()
    const shell = await createTestShell(test.deps, (app) => {
      const api = endpoints(app, test.deps, 'Test')
      api.get(
        '/things/:id',
        { operationId: 'getThing', ...documented, params: byId, querystring: withFee, answers: { 200: Plain } },
        async (_db, { params, query }) => ({ id: params.id, fee: query.fee }),
      )
    })
    try {
      expect((await shell.inject('/things/7?fee=1.5')).json()).toEqual({ id: '7', fee: '1.5' })
      expect((await shell.inject('/things/7')).statusCode).toBe(400)
    } finally {
      await shell.close()
      await test.close()
    }
  })
})
