import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { created, ok } from '../../../http/mutate.ts'
import { IdParams } from '../../../http/schema.ts'
import { imageEndpoints } from '../images/endpoints.ts'
import { createToken, updateToken } from './actions.ts'
import { toToken } from './present.ts'
import { listTokens } from './queries.ts'
import { Token, TokenCreation, TokenQuery, TokenUpdate } from './schema.ts'

export function tokenRoutes(app: App, deps: Deps): void {
  images(app, deps)
  const api = endpoints(app, deps, 'Registry')

  api.list(
    '/tokens',
    {
      operationId: 'listTokens',
      summary: 'List tokens',
      description: 'The tokens of the registry, newest first.',
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
      summary: 'Create a token',
      description:
        'Registers a token on a network. For platform administrators. Exactly one of `network` (slug) and `networkId` ' +
        'names the network. 409 when the network has a token with this code or this contract.',
      access: 'platform',
      errors: ['already_exists'],
      body: TokenCreation,
      answers: { 201: Token },
    },
    async (trx, { body, ...by }) => created(toToken(await createToken(trx, body, by))),
  )

  api.patch(
    '/tokens/:id',
    {
      operationId: 'updateToken',
      summary: 'Update a token',
      description:
        'Its name, symbol, logo, dust limit, and whether it is enabled. For platform administrators. Deposits of a ' +
        'disabled token are not credited, and no transfer of it is accepted.',
      access: 'platform',
      params: IdParams,
      body: TokenUpdate,
      answers: { 200: Token },
      errors: [404],
    },
    async (trx, { params, body, ...by }) => ok(toToken(await updateToken(trx, params.id, body, by))),
  )
}

function images(app: App, deps: Deps): void {
  imageEndpoints(
    endpoints(app, deps, 'Registry'),
    {
      path: '/tokens/:id',
      name: 'Token',
      noun: 'a token',
      who: 'For platform administrators. Answers the token, whose `logoUri` is the address of the image.',
      type: 'token',
      access: 'platform',
      params: IdParams,
      answer: Token,
      errors: [404],
    },
    ({ params }) => params.id,
    async (trx, { params, ...by }, logoUri) => {
      const token = await updateToken(trx, params.id, { logoUri }, by)
      return { body: toToken(token), vaultId: null }
    },
  )
}
