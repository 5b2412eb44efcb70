import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { Reconciliation } from '../ledger/schema.ts'
import { reconcileVault } from './reconcile.ts'

export function reconciliationRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'auditor', scopes: { reads: 'report' } })

  api.get('getReconciliation', '/vaults/:code/ledger/reconciliation', {
    summary: 'Get the reconciliation',
    description:
      'For administrators and auditors of the vault. Checks for each token that the sum of all entries is 0, and compares ' +
      'stored with recomputed balances, and the ledger with the on-chain balances that the wallet service reports.',
    answers: { 200: Reconciliation },
    handler: (_db, { member }) => reconcileVault(deps, member.vault.id, member.userId),
  })
}
