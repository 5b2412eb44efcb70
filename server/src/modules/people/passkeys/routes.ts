import type { Caller } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted } from '../../../http/mutate.ts'
import { forbidden } from '../../../lib/errors.ts'
import { readRequest } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { getOwnProfile } from '../users/queries.ts'
import { addPasskey, removePasskey } from './actions.ts'
import { passkeyOptions, requestOptions } from './options.ts'
import { toPasskey } from './present.ts'
import { listCredentials, listPasskeys } from './queries.ts'
import { AddPasskey, ConfirmationOf, Passkey, PasskeyOptions, RequestOptions } from './schema.ts'
import { askSecondPerson } from './second-person.ts'

export function passkeyRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Passkeys', { access: 'caller' })

  api.list('listMyPasskeys', '/users/me/passkeys', {
    summary: 'List your passkeys',
    description: 'Newest first, with one that waits for a second person.',
    item: Passkey,
    load: (db, { caller, now }, page) => listPasskeys(db, caller.userId, { ...page, now }),
    present: toPasskey,
  })

  api.calculate('preparePasskey', '/users/me/passkeys/options', {
    summary: 'Prepare a passkey',
    description:
      'What a browser needs to make a passkey, and to confirm it with one that you have already. The nonces work ' +
      'once, for five minutes, for you.',
    answers: { 200: PasskeyOptions },
    errors: ['person_required'],
    handler: async (db, { caller, now }) => {
      assertPerson(caller)
      const { email, name } = await getOwnProfile(db, caller.userId)
      return await passkeyOptions(db, deps, { userId: caller.userId, email: email ?? '', name }, now)
    },
  })

  api.post('addPasskey', '/users/me/passkeys', {
    summary: 'Add a passkey',
    description:
      'The service takes ES256 and EdDSA, and demands that the authenticator checked who holds it. Who has a passkey ' +
      'confirms the new one with it: otherwise 403. The first one of a member of a protected vault waits until an ' +
      'administrator there accepts it (202). You get a mail.',
    errors: [
      'person_required',
      'passkey_required',
      'passkey_not_accepted',
      'already_exists',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: AddPasskey,
    answers: { 201: Passkey, 202: WaitingAction },
    handler: async (trx, { caller, body, now }) => {
      assertPerson(caller)
      const { key, waitsIn } = await addPasskey(trx, deps, { caller, body, now })
      if (waitsIn === null) return toPasskey({ ...key, waitsFor: null })
      const { approvalTtlHours } = deps.config
      const waiting = { userId: caller.userId, vaultId: waitsIn, key, approvalTtlHours, now }
      const { member, requestId } = await askSecondPerson(trx, waiting)
      return accepted({ request: await readRequest(trx, member, requestId, now) })
    },
  })

  api.calculate('prepareConfirmation', '/users/me/passkeys/confirmation', {
    summary: 'Prepare the confirmation of a request',
    description:
      'What a browser needs to have one of your passkeys sign for exactly one request. Send the answer with that ' +
      'request in the header `Passkey-Assertion`: its JSON in base64url.',
    body: ConfirmationOf,
    answers: { 200: RequestOptions },
    errors: ['person_required'],
    handler: async (db, { caller, body, now }) => {
      assertPerson(caller)
      const purpose = { for: 'confirm', userId: caller.userId, ...body } as const
      return requestOptions(deps, purpose, await listCredentials(db, caller.userId), now)
    },
  })

  api.delete('removePasskey', '/users/me/passkeys/:id', {
    summary: 'Remove a passkey',
    description:
      'One of your passkeys, this one too, confirms it. Who lost all of theirs asks an operator of the service for ' +
      '`strongroom admin remove-passkeys`. You get a mail.',
    confirmed: true,
    answers: { 204: null },
    errors: [404],
    handler: async (trx, { caller, params, now, confirm }) => {
      await confirm(trx, { unlessNone: true })
      await removePasskey(trx, caller, params.id, now)
    },
  })
}

function assertPerson({ kind }: Caller): void {
  if (kind !== 'person') throw forbidden('person_required', 'Passkeys are of people; a service has its token')
}
