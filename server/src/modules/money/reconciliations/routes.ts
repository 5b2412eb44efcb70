import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { Reconciliation } from '../ledger/schema.ts'
import { reconcileVault } from './reconcile.ts'

export function reconciliationRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'auditor' })

  api.get('getReconciliation', '/vaults/:code/ledger/reconciliation', {
    summary: 'Get the reconciliation',
    description:
      'For administrators and auditors of the vault. Compares, per token, the sum of all entries (which must be 0), the stored ' +
      'with the recomputed balances, and the ledger with the on-chain balances that the wallet service reports.',
    answers: { 200: Reconciliation },
    handler: (_db, { member }) => reconcileVault(deps, member.vault.id, member.userId),
  })
}
