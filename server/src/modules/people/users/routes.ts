import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { replacePreferences, updateProfile } from './actions.ts'
import { toOwnProfile, toPlatformUser } from './present.ts'
import { getOwnProfile, getPreferences, listPlatformUsers } from './queries.ts'
import { OwnProfile, PlatformUser, PlatformUserQuery, Preferences, UpdateProfile } from './schema.ts'

export function userRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People', { access: 'caller', scopes: { reads: 'read', writes: 'write' } })

  imageEndpoints(api, '/users/me', {
    name: 'My',
    noun: 'your profile',
    who: 'Returns the profile, whose `image` is the address of the image.',
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
      'Returns all fields that PATCH changes. A service token gets the profile of its service, which has no e-mail address.',
    answers: { 200: OwnProfile },
    handler: async (db, { caller }) => toOwnProfile(await getOwnProfile(db, caller.userId)),
  })

  api.patch('updateMyProfile', '/users/me', {
    summary: 'Update your profile',
    description:
      'Fields that are left out stay; null clears a field. 409 when the username is taken, regardless of case.',
    errors: ['already_exists'],
    body: UpdateProfile,
    answers: { 200: OwnProfile },
    handler: async (trx, { caller, body, now }) => toOwnProfile(await updateProfile(trx, caller.userId, body, now)),
  })

  api.get('getMyPreferences', '/users/me/preferences', {
    summary: 'Get your preferences',
    description: 'Preferences that a user interface stored for the caller; an empty object if there are none.',
    answers: { 200: Preferences },
    handler: (db, { caller }) => getPreferences(db, caller.userId),
  })

  api.put('replaceMyPreferences', '/users/me/preferences', {
    summary: 'Replace your preferences',
    description:
      'Replaces the preferences as a whole, and returns them as stored. The service does not read their content.',
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
      'For platform administrators: people and services of all vaults, the newest first. `status` selects active users (the ' +
      'default) or disabled users; services whose token was revoked are in neither list.',
    access: 'platform',
    querystring: PlatformUserQuery,
    item: PlatformUser,
    load: (db, { query }, page) => listPlatformUsers(db, query, page),
    present: toPlatformUser,
  })
}
