import { type ActionType, actionTypes, type Facts } from '../selectors/facts.ts'
import { evaluateOfInitiator } from '../selectors/selectors.ts'
import { evaluatePolicy, factsOfInitiator, type Initiator } from './decide.ts'
import { combine, type Effect, type PolicySnapshot } from './decision.ts'

export const outlooks = ['allow', 'approval', 'deny', 'depends'] as const
export type Outlook = (typeof outlooks)[number]

/**
 * Returns the outlook on every action when only the initiator is known; pure.
 *
 * @param candidates the enabled policies of every action in the groups of the initiator
 */
export function outlooksOf(candidates: PolicySnapshot[], initiator: Initiator): Record<ActionType, Outlook> {
  const outlooks = actionTypes.map((action): [ActionType, Outlook] => [
    action,
    outlookOf(
      candidates.filter(({ actionType }) => actionType === action),
      initiator,
    ),
  ])
  return Object.fromEntries(outlooks) as Record<ActionType, Outlook>
}

/**
 * Decides once with the policies that certainly match, and once more for each policy that may match, with that policy added. This
 * covers every combination: further matching policies move a decision only upwards in the order denied, allowed, approval, blocked,
 * and a single policy determines how far.
 */
function outlookOf(policies: PolicySnapshot[], initiator: Initiator): Outlook {
  const facts: Facts = factsOfInitiator(initiator, new Date(0))
  const evaluated = policies.map((policy) => ({ policy, trace: evaluatePolicy(policy, facts, evaluateOfInitiator) }))
  const certain = evaluated.filter(({ trace }) => trace.matched && !trace.inDoubt).map(({ policy }) => policy)
  const possible = evaluated.filter(({ trace }) => trace.inDoubt).map(({ policy }) => policy)
  const decisions = [certain, ...possible.map((policy) => [...certain, policy])].map((matching) => {
    const matches = matching.map((policy) => ({ policy, inDoubt: false }))
    return outlookOfEffect(combine(matches, initiator.isAdmin).effect)
  })
  const [first = 'deny', ...others] = new Set(decisions)
  return others.length === 0 ? first : 'depends'
}

const outlookOfEffect = (effect: Effect): Outlook => (effect === 'block' ? 'deny' : effect)
