import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, ok } from '../../../http/mutate.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { toPlatformChange } from '../../registry/platform-changes/present.ts'
import { PlatformChange } from '../../registry/platform-changes/schema.ts'
import { replacePreferences, updateProfile } from './actions.ts'
import { askToEnable, disable, getOffboarding } from './offboarding.ts'
import { toOwnProfile, toPlatformUser } from './present.ts'
import { getOwnProfile, getPreferences, listPlatformUsers } from './queries.ts'
import {
  DisableUser,
  Offboarding,
  OwnProfile,
  PlatformUser,
  PlatformUserQuery,
  Preferences,
  UpdateProfile,
} from './schema.ts'

export function userRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People', { access: 'caller' })

  imageEndpoints(api, '/users/me', {
    name: 'My',
    noun: 'your profile',
    who: 'Answers the profile, whose `image` is the address of the image.',
    type: 'user',
    answer: OwnProfile,
    idOf: ({ caller }) => caller.userId,
    change: async (trx, { caller, now }, image) => {
      const profile = await updateProfile(trx, caller.userId, { image }, now)
      return { body: toOwnProfile(profile), vaultId: null }
    },
  })

  api.get('getMyProfile', '/users/me', {
    summary: 'Get your profile',
    description:
      'All that PATCH changes. A service token gets the profile of its service, which has no e-mail address.',
    answers: { 200: OwnProfile },
    handler: async (db, { caller }) => toOwnProfile(await getOwnProfile(db, caller.userId)),
  })

  api.patch('updateMyProfile', '/users/me', {
    summary: 'Update your profile',
    description:
      'Fields that are left out stay; null clears a field. 409 when the username is taken, in any case of its letters.',
    errors: ['already_exists'],
    body: UpdateProfile,
    answers: { 200: OwnProfile },
    handler: async (trx, { caller, body, now }) => toOwnProfile(await updateProfile(trx, caller.userId, body, now)),
  })

  api.get('getMyPreferences', '/users/me/preferences', {
    summary: 'Get your preferences',
    description: 'What a user interface stored for the caller; an empty object before.',
    answers: { 200: Preferences },
    handler: (db, { caller }) => getPreferences(db, caller.userId),
  })

  api.put('replaceMyPreferences', '/users/me/preferences', {
    summary: 'Replace your preferences',
    description: 'Replaced whole, and answered as stored. The service does not read what is in it.',
    body: Preferences,
    answers: { 200: Preferences },
    handler: async (trx, { caller, body, now }) => {
      await replacePreferences(trx, caller.userId, body, now)
      return body
    },
  })

  api.list('listPlatformUsers', '/platform/users', {
    summary: 'List the users of the platform',
    description:
      'For platform administrators: people and services of all vaults, the newest first. Disabled ones are left out ' +
      'unless `status` asks for them; services whose token was revoked are in neither list.',
    access: 'platform',
    querystring: PlatformUserQuery,
    item: PlatformUser,
    load: (db, { query }, page) => listPlatformUsers(db, query, page),
    present: toPlatformUser,
  })

  api.get('getOffboarding', '/users/:id/offboarding', {
    summary: 'List what a user leaves behind',
    description:
      'For platform administrators: the service tokens and invitations that a user made and that still work, the vaults ' +
      'that nobody else can administer, and how many requests that wait for their vote can no longer reach their quorum.',
    access: 'platform',
    errors: ['not_found'],
    answers: { 200: Offboarding },
    handler: (db, { params }) => getOffboarding(db, params.id),
  })

  api.post('disableUser', '/users/:id/disable', {
    summary: 'Disable a user',
    description:
      'For platform administrators. Sessions end with the next request on every node, and votes that are not decided ' +
      'count no longer. The answer lists what the user leaves behind; the administrators of their vaults get it by mail. ' +
      '403 for oneself, 409 for the last platform administrator and for a user who is disabled already.',
    access: 'platform',
    errors: ['not_found', 'other_person_required', 'last_administrator', 'wrong_state'],
    body: DisableUser,
    answers: { 200: Offboarding },
    handler: (trx, { params, body, caller, now }) =>
      disable(trx, { userId: params.id, reason: body.reason, actorId: caller.userId, now }),
  })

  api.post('enableUser', '/users/:id/enable', {
    summary: 'Enable a user',
    description:
      'For platform administrators. Memberships, and votes on what still waits, count again; the user signs in anew. ' +
      '409 for a user who is not disabled, and for a service whose token was revoked. A member of a vault with governance ' +
      'is enabled when another platform administrator confirms it (202).',
    access: 'platform',
    errors: ['not_found', 'wrong_state', 'already_exists'],
    body: DisableUser,
    answers: { 200: PlatformUser, 202: PlatformChange },
    handler: async (trx, { params, body, ...by }) => {
      const answer = await askToEnable(trx, { userId: params.id, reason: body.reason }, by)
      return 'held' in answer ? accepted(toPlatformChange(answer.held)) : ok(answer.user)
    },
  })
}
