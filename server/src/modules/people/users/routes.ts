import { callerOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { mutate, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref } from '../../../http/schema.ts'
import { updateProfile } from './actions.ts'
import { toOwnProfile } from './present.ts'
import { OwnProfile, UpdateProfile } from './schema.ts'

export function userRoutes(app: App, deps: Deps): void {
  app.patch(
    '/users/me',
    route({
      operationId: 'updateMyProfile',
      summary: 'Change your own profile; null clears a field',
      tag: 'People',
      access: 'caller',
      body: UpdateProfile,
      answers: { 200: Ref(OwnProfile) },
      errors: [409],
    }),
    (request, reply) =>
      mutate(deps, request, reply, async (trx) =>
        ok(toOwnProfile(await updateProfile(trx, callerOf(request).userId, request.body, deps.clock()))),
      ),
  )
}
