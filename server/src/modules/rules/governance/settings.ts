import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { changedFields } from '../../record/audit/record.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { lockExistingGroups } from '../policies/queries.ts'
import { governedAction } from './actions.ts'
import type { GovernanceSettings } from './document-schema.ts'
import { readGovernance } from './queries.ts'
import { GovernanceUpdate } from './schema.ts'

/** Changes who must agree to changes of the rules. @throws 404 for a group that the vault does not have */
export async function updateGovernance(
  trx: Trx,
  { approverGroupId = null, ...body }: Static<typeof GovernanceUpdate>,
  by: ByMember,
): Promise<GovernanceSettings> {
  const vaultId = by.member.vault.id
  if (approverGroupId !== null && (await lockExistingGroups(trx, vaultId, [approverGroupId])).size === 0) {
    throw notFound('Policy group')
  }
  const before = await readGovernance(trx, vaultId)
  const after = { ...body, approverGroupId }
  const { threshold, looseningDelayHours, tighteningDelayHours } = after
  await sql`
    insert into governance (vault_id, threshold, approver_group_id, loosening_delay_hours, tightening_delay_hours, updated_at)
    values (${vaultId}, ${threshold}, ${approverGroupId}, ${looseningDelayHours}, ${tighteningDelayHours}, ${by.now})
    on conflict (vault_id) do update set threshold = excluded.threshold, approver_group_id = excluded.approver_group_id,
      loosening_delay_hours = excluded.loosening_delay_hours, tightening_delay_hours = excluded.tightening_delay_hours,
      updated_at = excluded.updated_at`.execute(trx)
  const changes = changedFields(before, after)
  if (changes !== null) {
    await announceVaultChange(trx, {
      ...byMember(by),
      action: 'governance.updated',
      targetType: 'vault',
      targetId: vaultId,
      details: changes,
      words: { sentence: 'The governance of the vault was changed', ...changes },
    })
  }
  return after
}

export const governanceActions = {
  governance_update: governedAction(
    { operationId: 'updateGovernance', target: null, schema: GovernanceUpdate },
    async (trx, { payload }, { member, now }) => {
      await updateGovernance(trx, payload, { member, now })
      return member.vault.id
    },
  ),
}
