import type { Deps } from '../deps.ts'
import { categoryActions } from '../modules/operations/categories/governed-categories.ts'
import { invitationActions } from '../modules/people/invitations/governed-invitations.ts'
import { serviceTokenActions } from '../modules/people/service-tokens/governed-service-tokens.ts'
import type { Governed } from '../modules/rules/change-sets/governed-actions.ts'
import { governanceActions } from '../modules/rules/governance/settings.ts'
import { policyActions } from '../modules/rules/policy-editing/governed-policies.ts'
import { folderActions } from '../modules/vaults/folders/governed-folders.ts'
import { vaultActions } from '../modules/vaults/vaults/governed-vaults.ts'
import { withProbe } from '../modules/vaults/wallets/probe-wallet.ts'

/**
 * Returns the table of all governed actions, for the endpoints, for change sets and for the task that applies due changes.
 */
export function governedOf(deps: Deps): Governed {
  return {
    actions: {
      ...policyActions,
      ...invitationActions(deps),
      ...serviceTokenActions,
      ...categoryActions,
      ...vaultActions(deps),
      ...folderActions,
      ...governanceActions,
    },
    withProbe: (change) => withProbe(deps, change),
  }
}
