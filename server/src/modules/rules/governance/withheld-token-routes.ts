import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { listWithheld } from '../../registry/tokens/withheld.ts'
import { WaitingAction } from '../approval-requests/schema.ts'
import { governedIn } from './govern.ts'
import { toWithheldToken } from './present.ts'
import { WithheldTokens } from './schema.ts'
import { acceptWithheldToken } from './settings.ts'

export function withheldTokenRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Governance', { access: 'member', scopes: { reads: 'read', writes: 'rules' } })
  const govern = governedIn(deps)

  api.get('listWithheldTokens', '/vaults/:code/withheld-tokens', {
    summary: 'List withheld tokens',
    description:
      'Tokens that the platform enabled after the vault had governance, and that the vault has not accepted: no transfer ' +
      'of them can be ordered. For administrators and auditors of the vault.',
    access: 'auditor',
    answers: { 200: WithheldTokens },
    handler: async (db, { member }) => ({ items: (await listWithheld(db, member.vault.id)).map(toWithheldToken) }),
  })

  api.post('acceptToken', '/vaults/:code/withheld-tokens/:id/accept', {
    summary: 'Accept a withheld token',
    description: 'For administrators of the vault. It waits for votes (202) while the vault has governance.',
    access: 'administrator',
    errors: ['limit_reached', 'quorum_unreachable'],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params: { id }, ...by }) =>
      govern(trx, by, ['token_accept', id, {}], () => acceptWithheldToken(trx, id, by)),
  })
}
