import type { Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'
import type { Decision } from './decision.ts'

/**
 * Actions that other rules decide on: those of a category, those of the order that a transaction replaces, which is tried
 * itself, governance, the first passkey of a person, and an adjustment, on which two administrators agree.
 */
export const decidedElsewhere: readonly string[] = [
  'category_assign',
  'category_edit',
  'transfer_replace',
  'rules_change',
  'passkey_add',
  'balance_adjust',
]

type Kept = {
  vaultId: string
  initiatorId: string
  /** What was asked for: an action, or `composite`. */
  action: string
  /** The decision on each step. */
  decisions: { actionType: string; decision: Decision }[]
  now: Date
}

/**
 * Keeps a decision that is kept with nothing else, because the action was refused or carried out at once: with its facts, so
 * that other policies can be tried on it.
 */
export async function keepDecision(trx: Trx, { vaultId, initiatorId, action, decisions, now }: Kept): Promise<void> {
  const kept = decisions.map(({ actionType, decision: { effect, decisionPolicy, requirements, trace, facts } }) => ({
    ...{ actionType, effect, decisionPolicy, requirements, trace, facts },
  }))
  await trx
    .insertInto('decisions')
    .values({
      vault_id: vaultId,
      id: newId(now),
      action,
      initiator_id: initiatorId,
      decisions: JSON.stringify(kept),
      created_at: now,
    })
    .execute()
}
