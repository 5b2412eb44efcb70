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
  const api = endpoints(app, deps, 'Passkeys', { access: 'caller', scopes: { reads: 'read', writes: 'write' } })

  api.list('listMyPasskeys', '/users/me/passkeys', {
    summary: 'List your passkeys',
    description: 'Newest first, including a passkey that waits for a second person.',
    item: Passkey,
    load: (db, { caller, now }, page) => listPasskeys(db, caller.userId, { ...page, now }),
    present: toPasskey,
  })

  api.calculate('preparePasskey', '/users/me/passkeys/options', {
    summary: 'Prepare a passkey',
    description:
      'Options with which a browser makes a passkey, and confirms it with a passkey that you have. The nonces work ' +
      'once, for five minutes, and only for you.',
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
      'The service accepts ES256 and EdDSA, and requires user verification. If you have a passkey, it must confirm the ' +
      'new passkey: otherwise 403. The first passkey of a member of a protected vault waits until an administrator of ' +
      'the vault accepts it (202). You get a mail.',
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
      'Options with which a browser lets one of your passkeys sign exactly one request. Send the assertion with that ' +
      'request in the header `Passkey-Assertion`, as JSON in base64url.',
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
      'One of your passkeys, possibly the removed passkey, must confirm the request. If you lost all of them, ask an ' +
      'operator of the service for `strongroom admin remove-passkeys`. You get a mail.',
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
  if (kind !== 'person') throw forbidden('person_required', 'Only people have passkeys; a service has a service token')
}
