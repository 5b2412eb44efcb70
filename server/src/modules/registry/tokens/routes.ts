import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, ok } from '../../../http/mutate.ts'
import { imageEndpoints } from '../images/endpoints.ts'
import { toPlatformChange } from '../platform-changes/present.ts'
import { PlatformChange } from '../platform-changes/schema.ts'
import { askToUpdateToken, createToken, updateToken } from './actions.ts'
import { toToken } from './present.ts'
import { listTokens } from './queries.ts'
import { Token, TokenCreation, TokenQuery, TokenUpdate } from './schema.ts'

export function tokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Registry', { access: 'platform', scopes: { reads: 'read', writes: 'write' } })

  imageEndpoints(api, '/tokens/:id', {
    name: 'Token',
    noun: 'a token',
    who: 'For platform administrators. Returns the token, whose `logoUri` is the address of the image.',
    type: 'token',
    answer: Token,
    errors: [404],
    idOf: ({ params }) => params.id,
    change: async (trx, { params, ...by }, logoUri) => {
      const token = await updateToken(trx, params.id, { logoUri }, by)
      return { body: toToken(token), vaultId: null }
    },
  })

  api.list('listTokens', '/tokens', {
    summary: 'List tokens',
    description: 'The tokens of the registry, newest first.',
    access: 'caller',
    querystring: TokenQuery,
    item: Token,
    load: (db, { query }, page) => listTokens(db, query, page),
    present: toToken,
  })

  api.post('createToken', '/tokens', {
    summary: 'Create a token',
    description:
      'Registers a token on a network. For platform administrators. Exactly one of `network` (slug) and `networkId` ' +
      'names the network. 409 when the network has a token with this code or this contract.',
    errors: ['already_exists'],
    body: TokenCreation,
    answers: { 201: Token },
    handler: async (trx, { body, ...by }) => toToken(await createToken(trx, body, by)),
  })

  api.patch('updateToken', '/tokens/:id', {
    summary: 'Update a token',
    description:
      'Changes the name, symbol, logo or dust limit of a token, or enables or disables it. For platform administrators. ' +
      'Deposits of a disabled token are not credited, and its transfers are refused. If a vault with governance uses the ' +
      'network of the token, a body that changes the name, symbol or dust limit is held (202) until another platform ' +
      'administrator confirms it; a body that only disables a token takes effect at once.',
    body: TokenUpdate,
    answers: { 200: Token, 202: PlatformChange },
    errors: [404, 'already_exists'],
    handler: async (trx, { params, body, ...by }) => {
      const answer = await askToUpdateToken(trx, params.id, body, by)
      return 'held' in answer ? accepted(toPlatformChange(answer.held)) : ok(toToken(answer.token))
    },
  })
}
