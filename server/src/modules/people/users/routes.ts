import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { IdParams } from '../../../http/schema.ts'
import { imageEndpoints } from '../../registry/images/endpoints.ts'
import { replacePreferences, updateProfile } from './actions.ts'
import { disable, enable, getOffboarding } from './offboarding.ts'
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

const ofUser = { access: 'platform', params: IdParams, errors: ['not_found'] } as const

export function userRoutes(app: App, deps: Deps): void {
  images(app, deps)
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
        'For platform administrators: people and services of all vaults, the newest first. Disabled ones are left out ' +
        'unless `status` asks for them; services whose token was revoked are in neither list.',
      access: 'platform',
      querystring: PlatformUserQuery,
      item: PlatformUser,
    },
    (db, { query }, page) => listPlatformUsers(db, query, page),
    toPlatformUser,
  )

  api.get(
    '/users/:id/offboarding',
    {
      operationId: 'getOffboarding',
      summary: 'List what a user leaves behind',
      description:
        'For platform administrators: the service tokens and invitations that a user made and that still work, the vaults ' +
        'that nobody else can administer, and how much waits for their vote without hope.',
      ...ofUser,
      answers: { 200: Offboarding },
    },
    (db, { params }) => getOffboarding(db, params.id),
  )

  api.post(
    '/users/:id/disable',
    {
      operationId: 'disableUser',
      summary: 'Disable a user',
      description:
        'For platform administrators. Sessions end with the next request on every node, and votes that are not decided ' +
        'count no longer. The answer lists what the user leaves behind; the administrators of their vaults get it by mail. ' +
        '403 for oneself, 409 for the last platform administrator and for who is disabled already.',
      ...ofUser,
      errors: ['not_found', 'other_person_required', 'last_administrator', 'wrong_state'],
      body: DisableUser,
      answers: { 200: Offboarding },
    },
    async (trx, { params, body, caller, now }) =>
      ok(await disable(trx, { userId: params.id, reason: body.reason, actorId: caller.userId, now })),
  )

  api.post(
    '/users/:id/enable',
    {
      operationId: 'enableUser',
      summary: 'Enable a user',
      description:
        'For platform administrators. Memberships, and votes on what still waits, count again; the user signs in anew. ' +
        '409 for who is not disabled, and for a service whose token was revoked.',
      ...ofUser,
      errors: ['not_found', 'wrong_state'],
      body: DisableUser,
      answers: { 200: PlatformUser },
    },
    async (trx, { params, body, caller, now }) =>
      ok(await enable(trx, { userId: params.id, reason: body.reason, actorId: caller.userId, now })),
  )
}

function images(app: App, deps: Deps): void {
  imageEndpoints(
    endpoints(app, deps, 'People'),
    {
      path: '/users/me',
      name: 'My',
      noun: 'your profile',
      who: 'Answers the profile, whose `image` is the address of the image.',
      type: 'user',
      access: 'caller',
      answer: OwnProfile,
    },
    ({ caller }) => caller.userId,
    async (trx, { caller, now }, image) => {
      const profile = await updateProfile(trx, caller.userId, { image }, now)
      return { body: toOwnProfile(profile), vaultId: null }
    },
  )
}
