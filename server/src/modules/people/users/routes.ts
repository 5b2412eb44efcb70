import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { updateProfile } from './actions.ts'
import { toOwnProfile } from './present.ts'
import { getOwnProfile } from './queries.ts'
import { OwnProfile, UpdateProfile } from './schema.ts'

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
}
