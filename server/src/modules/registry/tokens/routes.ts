import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { IdParams } from '../../../http/schema.ts'
import { createToken, updateToken } from './actions.ts'
import { toToken } from './present.ts'
import { listTokens } from './queries.ts'
import { Token, TokenCreation, TokenQuery, TokenUpdate } from './schema.ts'

export function tokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry')

  api.list(
    '/tokens',
    {
      operationId: 'listTokens',
      summary: 'List the tokens of the registry',
      access: 'caller',
      querystring: TokenQuery,
      item: Token,
    },
    (db, { query }, page) => listTokens(db, query, page),
    toToken,
  )

  api.post(
    '/tokens',
    {
      operationId: 'createToken',
      summary: 'Register a token on a network',
      description: 'Exactly one of `network` (slug) and `networkId` names the network.',
      access: 'platform',
      body: TokenCreation,
      answers: { 201: Token },
      errors: [409],
    },
    async (trx, { body, ...by }) => created(toToken(await createToken(trx, body, by))),
  )

  api.patch(
    '/tokens/:id',
    {
      operationId: 'updateToken',
      summary: 'Rename a token, set its dust limit, or enable or disable it',
      access: 'platform',
      params: IdParams,
      body: TokenUpdate,
      answers: { 200: Token },
      errors: [404, 409],
    },
    async (trx, { params, body, ...by }) => ok(toToken(await updateToken(trx, params.id, body, by))),
  )
}
