import type { SubjectKind } from '../../../access/memberships.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { Objection } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Facts } from '../selectors/facts.ts'

/** The decision of the policies of a vault on one action (contract 8.4): types, and the pure rule that combines policies. */
export const decisionEffects = ['allow', 'block', 'approval', 'deny'] as const
export type Effect = (typeof decisionEffects)[number]

/** `threshold` is the number of votes that a group must give; left out if no number is required. */
type Approver = { kind: SubjectKind; id: string; threshold?: number }

/** A matching policy that requires approval. Each requirement must reach its threshold. */
export type Requirement = {
  policyId: string
  policyCode: string
  policyName: string
  threshold: number
  /** Waived because the initiator administers the vault and the policy has adminBypass. */
  bypassed: boolean
  allowInitiator: boolean
  /** The user for whom the action was decided, if not the initiator. Without `allowInitiator`, neither of the two votes. */
  decidedForId?: string
  /** Explicit approvers; null when all members of `groupId` are approvers. */
  approvers: Approver[] | null
  groupId: string
  /** Votes of services do not count. */
  peopleOnly?: true
}

export type SelectorTrace = { selectorType: string; matched: boolean; expected: unknown; observed: unknown }
export type RuleTrace = { conditionType: string; matched: boolean; selectors: SelectorTrace[] }
export type PolicyTrace = {
  policyId: string
  policyCode: string
  matched: boolean
  /** It is unknown whether the policy matches; `matched` is the assumption against the request. */
  inDoubt: boolean
  rules: RuleTrace[]
}

export const policyEffects = ['allow', 'block', 'requireApproval'] as const
export type PolicyEffect = (typeof policyEffects)[number]

export const conditionTypes = ['require', 'any', 'exclude'] as const
export type ConditionType = (typeof conditionTypes)[number]

type Selector = { id: string; selectorType: string; value: unknown }

/** `createdAt` is an ISO timestamp. A condition of an unknown type fails closed. */
export type Rule = { id: string; conditionType: string; createdAt: string; selectors: Selector[] }

/** A rule of a policy that the API wrote. */
export type StoredRule = Rule & { conditionType: ConditionType }

/** A policy as it was when it decided; safe for JSON. */
export type PolicySnapshot = {
  id: string
  groupId: string
  code: string
  name: string
  actionType: string
  effect: PolicyEffect
  blockReason: string | null
  approvalThreshold: number
  adminBypass: boolean
  allowInitiatorApproval: boolean
  rules: Rule[]
  approvers: Approver[]
  /** The version of the rules that it was read from; missing before the first, and for a policy that is only tried. */
  rulesVersion?: number | null
}

export type Decision = {
  effect: Effect
  /** Why the action is blocked, for the initiator to read; null unless `effect` is block. */
  blockReason: string | null
  decisionPolicy: Named | null
  requirements: Requirement[]
  /** Every candidate, matching or not, ordered by policy id. */
  trace: PolicyTrace[]
  /** The matching policies as they were, ordered by id: what the evidence keeps. */
  policies: PolicySnapshot[]
  /** The facts of the decision. */
  facts: Facts
}

/** A matching policy. `inDoubt` is true when the match is an assumption. */
export type Match = { policy: PolicySnapshot; inDoubt: boolean }

/**
 * The readable part of a decision that is stored as JSON with its transfer or approval request. Decisions of early versions
 * have no policies.
 */
export type KeptDecision = Pick<Decision, 'effect' | 'decisionPolicy' | 'trace'> & Partial<Pick<Decision, 'policies'>>

/** The version of the rules that decided; null when no policy matched, or none was recorded. */
export function rulesVersionOf(decisions: Partial<Pick<Decision, 'policies'>>[]): number | null {
  for (const { rulesVersion } of decisions.flatMap(({ policies = [] }) => policies))
    if (rulesVersion) return rulesVersion
  return null
}

/** Returns true if a matching policy requires votes: requireApproval, or allow with a threshold. */
export function asksApproval(policy: Pick<PolicySnapshot, 'effect' | 'approvalThreshold'>): boolean {
  return policy.effect === 'requireApproval' || (policy.effect === 'allow' && policy.approvalThreshold >= 1)
}

const defaultBlockReason = 'A policy of the vault blocks this action'

/**
 * Combines the matching policies into one decision, independent of their order: any block blocks; else any approval policy
 * requires approval; else any allow allows; else the action is denied. adminBypass waives a requirement for an
 * administrator and never lifts a block.
 *
 * Doubt only adds requirements. An `allow` that matches in doubt adds its votes to what other policies permit and permits
 * nothing itself. A `requireApproval` in doubt lets the action wait for its votes, and none of them is waived unless some
 * policy permits the action with certainty.
 */
export function combine(matches: Match[], initiatorIsAdmin: boolean): Omit<Decision, 'trace' | 'facts'> {
  const policies = matches.map(({ policy }) => policy).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const block = policies.find(({ effect }) => effect === 'block')
  if (block !== undefined) {
    const blockReason = block.blockReason ?? defaultBlockReason
    return { effect: 'block', blockReason, decisionPolicy: named(block), requirements: [], policies }
  }
  const isCertain = matches.some(({ inDoubt }) => !inDoubt)
  const [first] = policies
  if (first === undefined || !(isCertain || policies.some(({ effect }) => effect === 'requireApproval'))) {
    return { effect: 'deny', blockReason: null, decisionPolicy: null, requirements: [], policies }
  }
  const asking = policies.filter(asksApproval)
  const requirements = asking.map((policy) => toRequirement(policy, initiatorIsAdmin && isCertain))
  const effect = requirements.every(({ bypassed }) => bypassed) ? 'allow' : 'approval'
  const decisive = asking.toSorted(strictestFirst)[0] ?? first
  return { effect, blockReason: null, decisionPolicy: named(decisive), requirements, policies }
}

type Effective = Pick<Decision, 'effect' | 'blockReason'>

/** Returns the objection of the policies to a new action, which `noun` names; null when they allow it or require votes. */
export function objectionOfPolicies(
  { effect, blockReason }: Effective,
  noun: string,
): Objection<'blocked_by_policy' | 'no_policy_allows'> | null {
  if (effect === 'block') return { reason: 'blocked_by_policy', message: blockReason ?? `A policy blocks ${noun}` }
  return effect === 'deny' ? { reason: 'no_policy_allows', message: `No policy allows ${noun}` } : null
}

/** Returns the objection of the policies to a payment that they allowed before. Only a block stops such a payment. */
export const objectionOfPoliciesNow = (
  { effect, blockReason }: Effective,
  noun: string,
): Objection<'blocked_by_policy_now'> | null =>
  effect === 'block'
    ? { reason: 'blocked_by_policy_now', message: `A policy blocks ${noun} now`, details: blockReason ?? undefined }
    : null

/** Highest threshold, then without adminBypass, then lowest id (contract 8.5). */
export function strictestFirst(a: Strictness, b: Strictness): number {
  if (a.approvalThreshold !== b.approvalThreshold) return b.approvalThreshold - a.approvalThreshold
  if (a.adminBypass !== b.adminBypass) return a.adminBypass ? 1 : -1
  return a.id < b.id ? -1 : 1
}

type Strictness = Pick<PolicySnapshot, 'approvalThreshold' | 'adminBypass' | 'id'>

function toRequirement(policy: PolicySnapshot, mayBypass: boolean): Requirement {
  return {
    policyId: policy.id,
    policyCode: policy.code,
    policyName: policy.name,
    threshold: policy.approvalThreshold,
    bypassed: policy.adminBypass && mayBypass,
    allowInitiator: policy.allowInitiatorApproval,
    approvers: policy.approvers.length === 0 ? null : policy.approvers,
    groupId: policy.groupId,
  }
}

/** The policy that a decision names. For a rule of the service, `id` is the id of the group that votes. */
type Named = { id: string; code: string; name: string }

export const named = ({ id, code, name }: Named): Named => ({ id, code, name })

/** Returns a decision that asks for votes of people of a group. The initiator and services do not vote. */
export function votesOfPeople(
  { id, code, name }: Named,
  threshold: number,
): Pick<Decision, 'effect' | 'decisionPolicy' | 'requirements'> {
  const requirement: Requirement = {
    policyId: id,
    policyCode: code,
    policyName: name,
    threshold,
    bypassed: false,
    allowInitiator: false,
    approvers: null,
    groupId: id,
    peopleOnly: true,
  }
  return { effect: 'approval', decisionPolicy: { id, code, name }, requirements: [requirement] }
}

/** SHA-256 in hex of the facts of a decision; the same for new facts and for facts that are read from the database. */
export function hashFacts(facts: Facts): string {
  return sha256(canonicalJson(facts)).toString('hex')
}

/**
 * SHA-256 in hex of a whole decision, which its audit record holds. The policies, thresholds and names of an evidence file are
 * compared with it. It is the same for a new decision and for a decision that is read from the database.
 */
function hashDecision(decision: Decision): string {
  return sha256(canonicalJson(decision)).toString('hex')
}

/** Both hashes, as the audit record of an order holds them. */
export const hashesOf = (decision: Decision) => ({
  factsHash: hashFacts(decision.facts),
  decisionHash: hashDecision(decision),
})

/** A group whose members must give this number of the votes. */
export type GroupThreshold = { groupId: string; threshold: number }

/** Returns the groups of a list of approvers that have a threshold. */
export function groupThresholdsOf(approvers: readonly Approver[] | null): GroupThreshold[] {
  return (approvers ?? []).flatMap(({ id, threshold }) => (threshold === undefined ? [] : [{ groupId: id, threshold }]))
}
