import type { Deps } from '../deps.ts'
import { categoryActions } from '../modules/operations/categories/governed.ts'
import { invitationActions } from '../modules/people/invitations/governed.ts'
import { serviceTokenActions } from '../modules/people/service-tokens/governed.ts'
import type { Governed } from '../modules/rules/change-sets/governed-actions.ts'
import { governanceActions } from '../modules/rules/governance/settings.ts'
import { policyActions } from '../modules/rules/policy-editing/governed-policies.ts'
import { folderActions } from '../modules/vaults/folders/governed.ts'
import { vaultActions } from '../modules/vaults/vaults/governed.ts'
import { withProbe } from '../modules/vaults/vaults/probe-wallet.ts'

/** Every change of the rules of a vault, in one table: what the endpoints, change sets and the task for due ones apply. */
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
