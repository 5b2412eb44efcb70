import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toPlatformChange } from '../../registry/platform-changes/present.ts'
import { PlatformChange } from '../../registry/platform-changes/schema.ts'
import { askToActivate, createProvider, deactivateProvider, updateProvider } from '../providers/actions.ts'
import { askToName, askToRemove, listBreakGlassPeople, toBreakGlassPerson } from '../providers/break-glass.ts'
import { askToEnforce } from '../providers/enforcement.ts'
import { pathsOf, toIdentityProvider } from '../providers/present.ts'
import { findProvider, findProviderOf, listProviders, type ProviderRow } from '../providers/queries.ts'
import {
  AddBreakGlassPerson,
  BreakGlassPerson,
  CreateIdentityProvider,
  EnforceIdentityProvider,
  Identities,
  IdentityId,
  IdentityProvider,
  ProvidersOfAddress,
  ProvidersQuery,
  UpdateIdentityProvider,
} from '../providers/schema.ts'
import { endSessionsOfIdentity } from '../sign-in/sessions.ts'
import { listIdentities, listIdentitiesOf, removeIdentity, toIdentity } from './identities.ts'

export function identityProviderRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Sign-in', { access: 'platform', scopes: { reads: 'read' } })
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
        providers: provider === null ? [] : [toProviderOfAddress(provider)],
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
      'For platform administrators. It is a draft: only its author can sign in through it, to try it. Register ' +
      '`redirectUri` and `logoutUri` of the answer at the provider, try it in a browser at its path `start`, then request ' +
      'its activation.',
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

  api.put('enforceIdentityProvider', '/identity-providers/:id/enforcement', {
    summary: 'Ask that people sign in through an identity provider alone',
    description:
      'For platform administrators; another one confirms it at `/platform-changes/{id}/confirm`. No link is mailed to ' +
      'addresses of ' +
      'its domains then, their passkeys open no session, and sessions that it did not open end. It stays when the provider is ' +
      'stopped. 409 `would_lock_out` unless two platform administrators, including the caller, can sign in afterwards, ' +
      'one of them without a provider. `enforce: false` ends it, and needs two people too.',
    body: EnforceIdentityProvider,
    errors: [404, 'wrong_state', 'already_exists', 'would_lock_out'],
    answers: { 202: PlatformChange },
    handler: async (trx, { params, body, ...by }) =>
      accepted(toPlatformChange(await askToEnforce(trx, params.id, body.enforce, by))),
  })

  api.list('listBreakGlassPeople', '/break-glass-people', {
    summary: 'List break-glass people',
    description: 'For platform administrators, the last named first; at most five.',
    item: BreakGlassPerson,
    load: (db, _input, page) => listBreakGlassPeople(db, page),
    present: toBreakGlassPerson,
  })

  api.post('addBreakGlassPerson', '/break-glass-people', {
    summary: 'Ask that somebody becomes a break-glass person',
    description:
      'For platform administrators; another one confirms it at `/platform-changes/{id}/confirm`. Where their provider is ' +
      'enforced, their passkey and then a mailed link open a session of one hour in the same browser. All platform ' +
      'administrators and the administrators of their vaults get a mail about it.',
    body: AddBreakGlassPerson,
    errors: [404, 'wrong_state', 'already_exists', 'limit_reached'],
    answers: { 202: PlatformChange },
    handler: async (trx, { body, ...by }) => accepted(toPlatformChange(await askToName(trx, body.userId, by))),
  })

  api.delete('removeBreakGlassPerson', '/break-glass-people/:id', {
    summary: 'Request that a person is no longer a break-glass person',
    description: 'For platform administrators; another one confirms it at `/platform-changes/{id}/confirm`.',
    errors: [404, 'already_exists', 'would_lock_out'],
    answers: { 202: PlatformChange },
    handler: async (trx, { params, ...by }) => accepted(toPlatformChange(await askToRemove(trx, params.id, by))),
  })

  api.get('listMyIdentities', '/users/me/identities', {
    summary: 'List your accounts at identity providers',
    description: 'The accounts that sign you in, the last linked first; at most one for each issuer.',
    access: 'caller',
    answers: { 200: Identities },
    handler: async (db, { caller }) => ({ items: (await listIdentities(db, caller.userId)).map(toIdentity) }),
  })

  api.get('listUserIdentities', '/users/:id/identities', {
    summary: 'List the accounts of a user at identity providers',
    description: 'For platform administrators.',
    errors: [404],
    answers: { 200: Identities },
    handler: async (db, { params }) => ({ items: (await listIdentitiesOf(db, params.id)).map(toIdentity) }),
  })

  api.delete('removeUserIdentity', '/users/:id/identities/:identityId', {
    summary: 'Remove an account of a user at an identity provider',
    description:
      'For platform administrators. The sessions that it opened end, and the next sign-in through the provider is a first ' +
      'one. All ' +
      'platform administrators and the administrators of vaults of the user get a mail.',
    params: { identityId: IdentityId },
    errors: [404],
    answers: { 204: null },
    handler: async (trx, { params, ...by }) =>
      removeIdentity(trx, { userId: params.id, identityId: params.identityId }, by),
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

const toProviderOfAddress = ({ id, name, enforce }: Pick<ProviderRow, 'id' | 'name' | 'enforce'>) => ({
  name,
  startUri: pathsOf(id).start,
  enforce,
})
