import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { badRequest, forbidden } from '../../../lib/errors.ts'
import { findInitiator } from '../../rules/decisions/decide.ts'
import { toPolicySimulation } from '../../rules/decisions/present.ts'
import { PolicySimulation } from '../../rules/decisions/schema.ts'
import { draftsIn, readDrafts } from '../../rules/policies/draft-policies.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import { SimulationOrder } from './schema.ts'
import { simulate } from './simulate.ts'

/** @param executors the executors that read the payloads of counterparty actions */
export function simulationRoutes(app: App, deps: Deps, executors: Executors): void {
  const api = endpoints(app, deps, 'Policies', { access: 'member', scopes: { reads: 'read' } })

  api.calculate('simulatePolicies', '/vaults/:code/policies/simulate', {
    summary: 'Simulate policies',
    description:
      'Decides an action without carrying it out. Members simulate their own actions, administrators and auditors ' +
      'those of any member. The trace shows for every candidate policy why it matches or does not; `funds` whether the ' +
      'balance suffices for a transfer. With `policies` or `draft`, administrators and auditors try policies before they are ' +
      'saved.',
    errors: ['administrator_required', 'already_exists', 'archived', 'held', 'not_permitted'],
    body: SimulationOrder,
    answers: { 200: PolicySimulation },
    handler: async (db, { member, body, now }) => {
      const { actionType, initiatorId = member.userId, targetId = null, payload } = body
      const isOwn = initiatorId === member.userId
      if (!isOwn && !member.readsAll)
        throw forbidden(
          'administrator_required',
          'Only administrators and auditors may simulate the actions of another member',
        )
      const initiator = isOwn ? member : await findInitiator(db, member.vault.id, initiatorId)
      // With bounds of their choice, callers could infer the sums that the trace hides.
      const policiesDraft = draftsIn(body)
      if (policiesDraft !== null && !member.readsAll)
        throw forbidden(
          'administrator_required',
          'Only administrators and auditors may simulate policies that are not saved',
        )
      if (initiator === null) throw badRequest('initiatorId', 'is not a member of the vault, or is disabled')
      const drafts =
        policiesDraft === null
          ? null
          : await readDrafts(db, member.vault.id, policiesDraft.draft, { now, path: policiesDraft.path })
      const outcome = await simulate(db, executors, { member, initiator, actionType, targetId, payload, drafts, now })
      const simulation = toPolicySimulation(outcome.decision, { readsAll: member.readsAll, isInitiator: true })
      return { ...simulation, funds: outcome.funds }
    },
  })
}
