import { callerOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { IdParams, PageOf, Ref } from '../../../http/schema.ts'
import { pageOf, toPage } from '../../../lib/cursor.ts'
import { createToken, updateToken } from './actions.ts'
import { toNetwork, toToken } from './present.ts'
import { listNetworks, listTokens } from './queries.ts'
import { Network, NetworkQuery, Token, TokenCreation, TokenQuery, TokenUpdate } from './schema.ts'

const tag = 'Registry'
const positionOf = (row: { created_at: Date; id: string }) => ({ createdAt: row.created_at, id: row.id })

export function registryRoutes(app: App, deps: Deps): void {
  app.get(
    '/networks',
    route({
      operationId: 'listNetworks',
      summary: 'List the networks of the registry',
      tag,
      access: 'caller',
      querystring: NetworkQuery,
      answers: { 200: PageOf(Ref(Network)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      return toPage(await listNetworks(deps.db, { after, limit }), limit, positionOf, toNetwork)
    },
  )

  app.get(
    '/tokens',
    route({
      operationId: 'listTokens',
      summary: 'List the tokens of the registry',
      tag,
      access: 'caller',
      querystring: TokenQuery,
      answers: { 200: PageOf(Ref(Token)) },
    }),
    async (request) => {
      const { after, limit } = pageOf(request.query)
      return toPage(await listTokens(deps.db, request.query, { after, limit }), limit, positionOf, toToken)
    },
  )

  app.post(
    '/tokens',
    route({
      operationId: 'createToken',
      summary: 'Register a token on a network',
      description: 'Exactly one of `network` (slug) and `networkId` names the network.',
      tag,
      access: 'platform',
      body: TokenCreation,
      answers: { 201: Ref(Token) },
      errors: [409],
    }),
    async (request, reply) =>
      mutate(deps, request, reply, async (trx) =>
        created(
          toToken(await createToken(trx, request.body, { actorId: callerOf(request).userId, now: deps.clock() })),
        ),
      ),
  )

  app.patch(
    '/tokens/:id',
    route({
      operationId: 'updateToken',
      summary: 'Rename a token, set its dust limit, or enable or disable it',
      tag,
      access: 'platform',
      params: IdParams,
      body: TokenUpdate,
      answers: { 200: Ref(Token) },
      errors: [404, 409],
    }),
    async (request, reply) =>
      mutate(deps, request, reply, async (trx) =>
        ok(
          toToken(
            await updateToken(trx, request.params.id, request.body, {
              actorId: callerOf(request).userId,
              now: deps.clock(),
            }),
          ),
        ),
      ),
  )
}
