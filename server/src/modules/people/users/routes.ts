import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { replacePreferences, updateProfile } from './actions.ts'
import { toOwnProfile, toPlatformUser } from './present.ts'
import { getOwnProfile, getPreferences, listPlatformUsers } from './queries.ts'
import { OwnProfile, PlatformUser, PlatformUserQuery, Preferences, UpdateProfile } from './schema.ts'

export function userRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People')

  api.get(
    '/users/me',
    {
      operationId: 'getMyProfile',
      summary: 'Get your profile',
      description:
        'All that PATCH changes. A service token gets the profile of its service, which has no e-mail address.',
      access: 'caller',
      answers: { 200: OwnProfile },
    },
    async (db, { caller }) => toOwnProfile(await getOwnProfile(db, caller.userId)),
  )

  api.patch(
    '/users/me',
    {
      operationId: 'updateMyProfile',
      summary: 'Update your profile',
      description:
        'Fields that are left out stay; null clears a field. 409 when the username is taken, in any case of its letters.',
      access: 'caller',
      errors: ['already_exists'],
      body: UpdateProfile,
      answers: { 200: OwnProfile },
    },
    async (trx, { caller, body, now }) => ok(toOwnProfile(await updateProfile(trx, caller.userId, body, now))),
  )

  api.get(
    '/users/me/preferences',
    {
      operationId: 'getMyPreferences',
      summary: 'Get your preferences',
      description: 'What a user interface stored for the caller; an empty object before.',
      access: 'caller',
      answers: { 200: Preferences },
    },
    (db, { caller }) => getPreferences(db, caller.userId),
  )

  api.put(
    '/users/me/preferences',
    {
      operationId: 'replaceMyPreferences',
      summary: 'Replace your preferences',
      description: 'Replaced whole, and answered as stored. The service does not read what is in it.',
      access: 'caller',
      body: Preferences,
      answers: { 200: Preferences },
    },
    async (trx, { caller, body, now }) => {
      await replacePreferences(trx, caller.userId, body, now)
      return ok(body)
    },
  )

  api.list(
    '/platform/users',
    {
      operationId: 'listPlatformUsers',
      summary: 'List the users of the platform',
      description:
        'For platform administrators: people and services of all vaults, the newest first. Disabled ones are left out.',
      access: 'platform',
      querystring: PlatformUserQuery,
      item: PlatformUser,
    },
    (db, { query }, page) => listPlatformUsers(db, query.search, page),
    toPlatformUser,
  )
}
