import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { Closed } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { changedFields } from '../../record/audit/record.ts'
import { announceVaultChange, quote } from '../../record/notifications/announce.ts'
import { acceptToken } from '../../registry/tokens/withheld.ts'
import { governedAction } from '../change-sets/governed-actions.ts'
import { lockExistingGroups } from '../policy-groups/memberships.ts'
import type { GovernanceSettings } from '../rules-versions/document-schema.ts'
import { readGovernance } from '../rules-versions/read-governance.ts'
import { GovernanceUpdate } from './schema.ts'

/** Changes the votes and delays that changes of the rules need. @throws 404 for a group that the vault does not have */
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

/**
 * Lets a vault use a token that the platform enabled after the vault had governance.
 * @throws 404 for a token that is not withheld from the vault
 */
export async function acceptWithheldToken(trx: Trx, tokenId: string, by: ByMember): Promise<void> {
  const vaultId = by.member.vault.id
  if (!(await acceptToken(trx, vaultId, tokenId))) throw notFound('Token')
  const { rows } = await sql<{ code: string }>`select code from tokens where id = ${tokenId}`.execute(trx)
  const { code } = rows[0]!
  await announceVaultChange(trx, {
    ...byMember(by),
    action: 'token.accepted',
    targetType: 'token',
    targetId: tokenId,
    details: { code },
    words: { sentence: `The token ${quote(code)} was accepted for the vault` },
  })
}

export const governanceActions = {
  governance_update: governedAction(
    { operationId: 'updateGovernance', target: null, schema: GovernanceUpdate },
    async (trx, { payload }, { member, now }) => {
      await updateGovernance(trx, payload, { member, now })
      return member.vault.id
    },
  ),
  token_accept: governedAction(
    { operationId: 'acceptToken', target: 'token', schema: Closed({}) },
    async (trx, { targetId }, by) => {
      await acceptWithheldToken(trx, targetId, by)
      return targetId
    },
  ),
}
