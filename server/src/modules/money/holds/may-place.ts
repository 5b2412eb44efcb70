import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { forbidden } from '../../../lib/errors.ts'
import { decide, factsOfInitiator } from '../../rules/decisions/decide.ts'

/**
 * Checks that a member may place holds: an administrator, or a member whom a policy allows it with certainty. A hold does not
 * wait for votes.
 * @throws 403
 */
export async function assertMayPlace(trx: Trx, member: Member, now: Date): Promise<void> {
  if (member.isAdmin) return
  const facts = factsOfInitiator(member, now)
  const question = { vaultId: member.vault.id, actionType: 'hold_place', initiator: member, facts }
  const { effect, blockReason } = await decide(trx, question)
  if (effect === 'allow') return
  if (effect === 'block') throw forbidden('blocked_by_policy', blockReason ?? 'A policy blocks this')
  throw forbidden('no_policy_allows', 'Administrators place holds, and those whom a policy allows it without votes')
}
