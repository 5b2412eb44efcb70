import type { Db, Trx } from '../../db/client.ts'
import { combine, type Decision } from './decision.ts'
import { evaluatePolicy } from './evaluate.ts'
import type { Facts } from './facts.ts'
import { listCandidates } from './queries.ts'

type Question = {
  vaultId: string
  actionType: string
  /** `groupIds` includes the built-in group `everyone`. */
  initiator: { userId: string; groupIds: string[]; isAdmin: boolean }
  facts: Facts
}

/**
 * Asks the policies of the vault about an action: one round trip for the candidates (enabled policies of the action's
 * type in groups of the initiator), then the pure evaluation. Changes nothing.
 */
export async function decide(db: Db | Trx, question: Question): Promise<Decision> {
  const { vaultId, actionType, initiator, facts } = question
  const candidates = await listCandidates(db, vaultId, actionType, initiator.groupIds)
  const evaluated = candidates.map((policy) => ({ policy, trace: evaluatePolicy(policy, facts) }))
  const matching = evaluated.filter(({ trace }) => trace.matched).map(({ policy }) => policy)
  return { ...combine(matching, initiator.isAdmin), trace: evaluated.map(({ trace }) => trace) }
}
