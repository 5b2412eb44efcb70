import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { updateProfile } from './actions.ts'
import { toOwnProfile } from './present.ts'
import { OwnProfile, UpdateProfile } from './schema.ts'

export function userRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People')

  api.patch(
    '/users/me',
    {
      operationId: 'updateMyProfile',
      summary: 'Update your profile',
      description:
        'Fields that are left out stay; null clears a field. 409 when the username is taken, in any case of its letters.',
      access: 'caller',
      body: UpdateProfile,
      answers: { 200: OwnProfile },
      errors: [409],
    },
    async (trx, { caller, body, now }) => ok(toOwnProfile(await updateProfile(trx, caller.userId, body, now))),
  )
}
