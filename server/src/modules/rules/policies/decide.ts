import type { Db, Trx } from '../../../db/client.ts'
import { combine, type Decision, type PolicySnapshot } from './decision.ts'
import { evaluatePolicy, isRuledOut } from './evaluate.ts'
import type { Facts } from './facts.ts'
import { type Initiator, listCandidates } from './queries.ts'
import { velocityLocksOf, velocityWindowsOf } from './velocity.ts'
import { lockVelocity, sumVelocity } from './velocity-queries.ts'

export type Question = {
  vaultId: string
  actionType: string
  initiator: Initiator
  facts: Facts
}

/**
 * Decides on an action by the policies of the vault: one round trip for the candidates (enabled policies of the action's
 * type in groups of the initiator), one more when a candidate limits velocity, then the pure evaluation. Changes nothing
 * and locks nothing, so its velocity figures may be outdated at once.
 */
export async function decide(db: Db | Trx, question: Question): Promise<Decision> {
  const candidates = await listCandidates(db, question.vaultId, question.actionType, question.initiator.groupIds)
  return decideBy(db, candidates, question)
}

/**
 * The candidates of `decide`, for an action that is carried out in this transaction if it is allowed. Requests that count
 * against the same limit are decided one after the other, and each sees the writes of those before it. Only scopes that are
 * limited by a policy that can still match are locked. Facts that must hold until the commit are read after this.
 */
export async function lockCandidates(trx: Trx, question: Question): Promise<PolicySnapshot[]> {
  const { vaultId, actionType, initiator, facts } = question
  const candidates = await listCandidates(trx, vaultId, actionType, initiator.groupIds)
  const limiting = velocityWindowsOf(candidates.filter((policy) => !isRuledOut(policy, facts)))
  await lockVelocity(trx, velocityLocksOf(limiting, vaultId, facts))
  return candidates
}

/**
 * Decides by these candidates. The sums are read in a separate statement, because a statement that waited for a lock would
 * still see the state before it. A window whose sum is among the facts already is not summed again.
 */
export async function decideBy(
  db: Db | Trx,
  candidates: PolicySnapshot[],
  { vaultId, initiator, facts: gathered }: Question,
): Promise<Decision> {
  const { velocity: known = [] } = gathered
  const windows = velocityWindowsOf(candidates).filter(
    ({ per, windowSeconds }) => !known.some((sum) => sum.per === per && sum.windowSeconds === windowSeconds),
  )
  const facts: Facts =
    windows.length === 0
      ? gathered
      : { ...gathered, velocity: [...known, ...(await sumVelocity(db, vaultId, windows, gathered))] }
  const evaluated = candidates.map((policy) => ({ policy, trace: evaluatePolicy(policy, facts) }))
  const matches = evaluated.flatMap(({ policy, trace }) => (trace.matched ? { policy, inDoubt: trace.inDoubt } : []))
  return { ...combine(matches, initiator.isAdmin), trace: evaluated.map(({ trace }) => trace), facts }
}
