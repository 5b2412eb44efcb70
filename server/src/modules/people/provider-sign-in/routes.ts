import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toPlatformChange } from '../../registry/platform-changes/present.ts'
import { PlatformChange } from '../../registry/platform-changes/schema.ts'
import { askToActivate, createProvider, deactivateProvider, updateProvider } from '../providers/actions.ts'
import { pathsOf, toIdentityProvider } from '../providers/present.ts'
import { findProvider, findProviderOf, listProviders, type ProviderRow } from '../providers/queries.ts'
import {
  CreateIdentityProvider,
  IdentityProvider,
  ProvidersOfAddress,
  ProvidersQuery,
  UpdateIdentityProvider,
} from '../providers/schema.ts'
import { endSessionsOfIdentity } from '../sign-in/sessions.ts'

export function identityProviderRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sign-in', { access: 'platform' })
  const present = (row: ProviderRow) => toIdentityProvider(row, deps.publicOrigin())

  api.get('listProvidersOfAddress', '/auth/providers', {
    summary: 'List the identity providers of an e-mail address',
    description:
      'Only the domain of the address counts: the answer is the same for every address of it, and nothing is looked up about ' +
      'the person. It is empty for a domain without a provider.',
    access: 'public',
    querystring: ProvidersQuery,
    answers: { 200: ProvidersOfAddress },
    handler: async (db, { query }) => {
      const provider = await findProviderOf(db, query.email)
      return {
        providers: provider === null ? [] : [{ name: provider.name, startUri: pathsOf(provider.id).start }],
      }
    },
  })

  api.list('listIdentityProviders', '/identity-providers', {
    summary: 'List identity providers',
    description: 'For platform administrators, newest first.',
    item: IdentityProvider,
    load: (db, _input, page) => listProviders(db, page),
    present,
  })

  api.get('getIdentityProvider', '/identity-providers/:id', {
    summary: 'Get an identity provider',
    description: 'For platform administrators.',
    errors: [404],
    answers: { 200: IdentityProvider },
    handler: async (db, { params }) => present(orNotFound(await findProvider(db, params.id), 'Identity provider')),
  })

  api.post('createIdentityProvider', '/identity-providers', {
    summary: 'Create an identity provider',
    description:
      'For platform administrators. It is a draft: only its author can sign in through it, to try it. Register `redirectUri` ' +
      'and `logoutUri` of the answer at the provider, try it in a browser at its path `start`, then ask for its activation.',
    body: CreateIdentityProvider,
    answers: { 201: IdentityProvider },
    handler: async (trx, { body, ...by }) => present(await createProvider(trx, deps, body, by)),
  })

  api.patch('updateIdentityProvider', '/identity-providers/:id', {
    summary: 'Change an identity provider',
    description:
      'For the platform administrator who created it, while it is not active and its activation does not wait. A sign-in that ' +
      'was tried before no longer counts.',
    body: UpdateIdentityProvider,
    errors: [404, 'not_permitted', 'wrong_state'],
    answers: { 200: IdentityProvider },
    handler: async (trx, { params, body, ...by }) => present(await updateProvider(trx, deps, params.id, body, by)),
  })

  api.post('activateIdentityProvider', '/identity-providers/:id/activate', {
    summary: 'Ask for the activation of an identity provider',
    description:
      'For the platform administrator who created it and signed in through it. Another one confirms it at ' +
      '`/platform-changes/{id}/confirm`; all platform administrators and the administrators of vaults with members of its ' +
      'domains get a mail then.',
    errors: [404, 'not_permitted', 'wrong_state', 'already_exists'],
    answers: { 202: PlatformChange },
    handler: async (trx, { params, ...by }) => accepted(toPlatformChange(await askToActivate(trx, params.id, by))),
  })

  api.post('deactivateIdentityProvider', '/identity-providers/:id/deactivate', {
    summary: 'Stop an identity provider',
    description:
      'For platform administrators, at once and without a second person. The sessions that it opened end with the next request, ' +
      'and its domains are free.',
    errors: [404, 'wrong_state'],
    answers: { 200: IdentityProvider },
    handler: async (trx, { params, ...by }) =>
      present(
        await deactivateProvider(trx, params.id, by, async (work, providerId, now) => {
          await endSessionsOfIdentity(work, { providerId, subject: null, sid: null }, now)
        }),
      ),
  })
}
