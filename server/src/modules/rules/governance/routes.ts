import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { governedIn } from './govern.ts'
import { Governance, GovernanceUpdate } from './schema.ts'
import { updateGovernance } from './settings.ts'

export function governanceRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Governance', { access: 'member', scopes: { reads: 'read', writes: 'rules' } })
  const govern = governedIn(deps)

  api.get('getGovernance', '/vaults/:code/governance', {
    summary: 'Get the governance of a vault',
    description: 'For members of the vault.',
    answers: { 200: Governance },
    handler: (db, { member }) => readGovernance(db, member.vault.id),
  })

  api.put('updateGovernance', '/vaults/:code/governance', {
    summary: 'Change the governance of a vault',
    description:
      'For administrators of the vault. While the threshold is 0, a change takes effect at once; with a threshold, every ' +
      'change of the governance waits for votes itself (202). 409 when the group that votes has too few people.',
    access: 'administrator',
    errors: ['limit_reached', 'quorum_unreachable'],
    body: GovernanceUpdate,
    confirmed: 'where protected',
    answers: { 200: Governance, 202: WaitingAction },
    handler: (trx, { body, ...by }) =>
      govern(trx, by, ['governance_update', null, body], () => updateGovernance(trx, body, by)),
  })
}
