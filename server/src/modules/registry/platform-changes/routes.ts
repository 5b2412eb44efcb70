import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { ok } from '../../../http/mutate.ts'
import { confirmPlatformChange, type PlatformExecutors, rejectPlatformChange } from './actions.ts'
import { toPlatformChange } from './present.ts'
import { listPlatformChanges } from './queries.ts'
import { PlatformChange, PlatformChangeQuery } from './schema.ts'

export function platformChangeRoutes(app: App, deps: Deps, executors: PlatformExecutors): void {
  const api = endpoints(app, deps, 'Registry', { access: 'platform' })

  api.list('listPlatformChanges', '/platform-changes', {
    summary: 'List changes that wait for another platform administrator',
    description:
      'Changes of tokens that vaults with governance use, of who is enabled in such vaults, and of identity providers, ' +
      'directories and break-glass people. For platform administrators, newest first; `status=held` lists only changes that ' +
      'wait for a decision.',
    querystring: PlatformChangeQuery,
    item: PlatformChange,
    load: (db, { query }, page) => listPlatformChanges(db, query, page),
    present: toPlatformChange,
  })

  api.post('confirmPlatformChange', '/platform-changes/:id/confirm', {
    summary: 'Confirm a change',
    description:
      'For platform administrators, except the administrator who requested the change. The change is carried out at once.',
    answers: { 200: PlatformChange },
    errors: [404, 'other_person_required', 'wrong_state', 'already_exists'],
    handler: async (trx, { params, ...by }) =>
      ok(toPlatformChange(await confirmPlatformChange(trx, executors, params.id, by))),
  })

  api.post('rejectPlatformChange', '/platform-changes/:id/reject', {
    summary: 'Reject a change',
    description:
      'For platform administrators, including the administrator who requested the change. It is never carried out.',
    answers: { 200: PlatformChange },
    errors: [404, 'wrong_state'],
    handler: async (trx, { params, ...by }) => ok(toPlatformChange(await rejectPlatformChange(trx, params.id, by))),
  })
}
