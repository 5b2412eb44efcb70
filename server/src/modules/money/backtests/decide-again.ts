import { addDecimals } from '../../../lib/money.ts'
import { decideFrom } from '../../rules/decisions/decide.ts'
import { decideViews, withoutEachOther } from '../../rules/decisions/decide-batch.ts'
import {
  type Decision,
  type Effect,
  groupThresholdsOf,
  type PolicySnapshot,
  type PolicyTrace,
} from '../../rules/decisions/decision.ts'
import { requireSecondPerson, underDualControl } from '../../rules/decisions/dual-control.ts'
import { velocityWindowsOf } from '../../rules/decisions/velocity-sums.ts'
import { groupsAfter, type Moves } from '../../rules/rules-versions/under-document.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { usdOf } from '../../rules/selectors/payment.ts'
import { lackOfFact } from '../../rules/selectors/selectors.ts'
import { placesOf } from '../../rules/votes/tally.ts'
import { outcomeOfSteps, type StoredDecision, type StoredStep } from './stored-decisions.ts'

/** A policy that is tried, saved or not. */
export type TriedPolicy = PolicySnapshot & { enabled: boolean }

/** The rules of a vault that decisions are tried under. */
export type Rules = {
  vaultId: string
  policies: readonly TriedPolicy[]
  /** The id of the group of administrators. */
  administratorsId: string
  /** The users who join and leave groups under these rules, in addition to the groups that a decision recorded. */
  moves?: Moves
}

export type Outcome = Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'>
export const changes = ['stricter', 'looser', 'undecidable'] as const
export type Change = 'same' | (typeof changes)[number]

/** The outcome of a decision under other rules. */
export type Again = {
  change: Change
  after: Outcome
  trace: PolicyTrace[]
  /** The facts that a policy reads and the record lacks. Their values are not guessed. */
  lacking: string[]
  /** The exact USD value of the orders of the decision; null without a rate, undefined if the decision moves no money. */
  usd: string | null | undefined
}

/** Returns the policies that may decide about an action, by action and groups. Results are kept, because there are thousands of calls. */
function candidatesOf({ policies }: Pick<Rules, 'policies'>) {
  const enabled = policies.filter((policy) => policy.enabled).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const found = new Map<string, PolicySnapshot[]>()
  return (actionType: string, groupIds: readonly string[]): PolicySnapshot[] => {
    const key = `${actionType} ${groupIds.toSorted().join(' ')}`
    let candidates = found.get(key)
    if (candidates === undefined) {
      candidates = enabled
        .filter((policy) => policy.actionType === actionType && groupIds.includes(policy.groupId))
        .map(({ enabled: _, ...policy }) => policy)
      found.set(key, candidates)
    }
    return candidates
  }
}

/** Returns a function that decides recorded decisions again under these rules, each from the facts of its day alone. */
export function createDecideAgain(rules: Rules): (stored: StoredDecision) => Promise<Again> {
  const candidates = candidatesOf(rules)
  const { administratorsId } = rules
  const { moves = {} } = rules
  const factsUnder = (facts: Facts): Facts =>
    Object.hasOwn(moves, facts.initiatorId)
      ? { ...facts, initiatorGroupIds: groupsAfter(moves[facts.initiatorId]!, facts.initiatorGroupIds) }
      : facts

  const decideStep = ({ actionType, facts: recorded }: StoredStep & { facts: Facts }) => {
    const facts = factsUnder(recorded)
    const { initiatorGroupIds: groupIds } = facts
    const policies = candidates(actionType, groupIds)
    const initiator = { isAdmin: groupIds.includes(administratorsId) }
    const decision = decideFrom(policies, facts, initiator)
    const decided = underDualControl.has(actionType)
      ? requireSecondPerson(decision, initiator, administratorsId)
      : decision
    return { decision: decided, lacking: lackingFacts(policies, decision) }
  }

  const decidePayout = async (orders: Facts[]) => {
    const together = orders.map(factsUnder)
    const { initiatorGroupIds: groupIds } = together[0]!
    const policies = candidates('transfer', groupIds)
    const windows = velocityWindowsOf(policies)
    const alone = windows.length === 0 ? null : withoutEachOther(rules.vaultId, together)
    const initiator = { isAdmin: groupIds.includes(administratorsId) }
    const { each: decisions, decisive, ...outcome } = await decideViews(policies, { together, alone }, initiator)
    const lacking = lackingInAll(
      decisions.map((decision) => ({ effect: decision.effect, lacking: lackingFacts(policies, decision) })),
    )
    // A sum that is unknown for all rows together may have been known for each row. The record does not say.
    const isBlurred = together.length > 1 && together.some(({ velocity }) => velocity?.some(({ usd }) => usd === null))
    if (isBlurred && haveSelector('velocityUsd', policies)) lacking.push('velocity in USD of each row')
    return { outcome, trace: decisive.decision.trace, lacking }
  }

  return async (stored) => {
    const { steps, type, outcome: before } = stored
    const known = steps.filter((step): step is StoredStep & { facts: Facts } => step.facts !== null)
    const usd = stored.actionType === 'transfer' ? usdOfOrders(steps) : undefined
    if (known.length < steps.length) return { change: 'undecidable', after: before, trace: [], lacking: ['facts'], usd }
    if (type === 'payout') {
      const { outcome, trace, lacking } = await decidePayout(known.map(({ facts }) => facts))
      return toAgain(before, outcome, { trace, lacking, usd })
    }
    const decided = known.map(decideStep)
    const outcome = outcomeOfSteps(decided.map(({ decision }) => decision))
    const trace = decided.flatMap(({ decision }) => decision.trace)
    const lacking = lackingInAll(decided.map((step) => ({ effect: step.decision.effect, lacking: step.lacking })))
    return toAgain(before, outcome, { trace, lacking, usd })
  }
}

function toAgain(before: Outcome, after: Outcome, more: Pick<Again, 'trace' | 'lacking' | 'usd'>): Again {
  const lacking = [...new Set(more.lacking)].sort()
  const change = lacking.length > 0 ? 'undecidable' : changeOf(before, after)
  return { ...more, change, after, lacking }
}

/**
 * Returns the facts that are not in the record although a policy in doubt reads them. A policy that decides for certain needs
 * no further facts, and a certain block decides everything.
 */
function lackingFacts(policies: PolicySnapshot[], { effect, trace, facts }: Decision): string[] {
  const doubted = new Set(trace.filter(({ inDoubt }) => inDoubt).map(({ policyId }) => policyId))
  if (doubted.size === 0) return []
  const certain = new Set(trace.filter((entry) => entry.matched && !entry.inDoubt).map(({ policyId }) => policyId))
  if (effect === 'block' && policies.some((policy) => policy.effect === 'block' && certain.has(policy.id))) return []
  return policies
    .filter(({ id }) => doubted.has(id))
    .flatMap(({ rules }) => rules.flatMap(({ selectors }) => selectors))
    .flatMap((selector) => lackOfFact(selector, facts) ?? [])
}

/** A certain block in one part decides all parts. */
function lackingInAll(parts: { effect: Effect; lacking: string[] }[]): string[] {
  if (parts.some(({ effect, lacking }) => effect === 'block' && lacking.length === 0)) return []
  return parts.flatMap(({ lacking }) => lacking)
}

const haveSelector = (type: string, policies: PolicySnapshot[]) =>
  policies.some(({ rules }) =>
    rules.some(({ selectors }) => selectors.some(({ selectorType }) => selectorType === type)),
  )

function usdOfOrders(steps: StoredStep[]): string | null {
  let sum = '0'
  for (const { facts } of steps) {
    const usd = facts === null ? null : usdOf(facts)
    if (usd === null) return null
    sum = addDecimals(sum, usd)
  }
  return sum
}

const strictness: Record<Effect, number> = { allow: 0, approval: 1, deny: 2, block: 3 }

/**
 * Compares two outcomes: by effect, then by the most votes that one policy requires, then by the number of policies that
 * require votes, then by the votes that groups must give; pure.
 */
export function changeOf(before: Outcome, after: Outcome): Exclude<Change, 'undecidable'> {
  const difference =
    strictness[after.effect] - strictness[before.effect] ||
    votesNeeded(after) - votesNeeded(before) ||
    waiting(after).length - waiting(before).length ||
    placesNeeded(after) - placesNeeded(before)
  return difference === 0 ? 'same' : difference > 0 ? 'stricter' : 'looser'
}

const waiting = ({ requirements }: Outcome) => requirements.filter(({ bypassed }) => !bypassed)
const placesNeeded = (outcome: Outcome) =>
  waiting(outcome).reduce((sum, { approvers }) => sum + placesOf(groupThresholdsOf(approvers)), 0)

/** Returns the largest number of votes that one policy requires. */
export const votesNeeded = (outcome: Outcome) => Math.max(0, ...waiting(outcome).map(({ threshold }) => threshold))
