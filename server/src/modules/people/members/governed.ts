import { Closed } from '../../../http/schema.ts'
import { governedAction } from '../../rules/governance/actions.ts'
import { removeFromVault } from '../../rules/policies/group-actions.ts'

/** Members as governed actions. */
export const memberActions = {
  member_remove: governedAction(
    { operationId: 'removeMember', target: 'member', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await removeFromVault(trx, targetId, by)
      return targetId
    },
  ),
}
