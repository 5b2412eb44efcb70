import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, ok } from '../../../http/mutate.ts'
import { toPlatformChange } from '../../registry/platform-changes/present.ts'
import { PlatformChange } from '../../registry/platform-changes/schema.ts'
import { DisableUser, Offboarding, PlatformUser } from '../users/schema.ts'
import { askToEnable, disable, getOffboarding } from './offboarding.ts'

export function offboardingRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'People', { access: 'caller' })

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
      'For platform administrators. Sessions end with the next request on every node, and votes on undecided requests no ' +
      'longer count. The answer lists what the user leaves behind; the administrators of their vaults get it by mail. ' +
      '403 for oneself, 409 for the last platform administrator and for a user who is already disabled.',
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
      'For platform administrators. Memberships, and votes on requests that still wait, count again; the user must sign ' +
      'in again. ' +
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
