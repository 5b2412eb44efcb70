import { type RawBuilder, sql } from 'kysely'
import { isEveryone, membershipOf } from '../../../access/memberships.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'
import type { Facts, InitiatorKind } from '../selectors/facts.ts'
import { evaluateSelector } from '../selectors/selectors.ts'
import { listCandidates } from './candidates.ts'
import {
  asksApproval,
  combine,
  type Decision,
  type PolicySnapshot,
  type PolicyTrace,
  type Rule,
  type RuleTrace,
  type SelectorTrace,
} from './decision.ts'
import { sumUnderLock, sumVelocity } from './velocity-sums.ts'

export type Question = {
  vaultId: string
  actionType: string
  initiator: Initiator
  facts: Facts
}

/** Returns the facts of every decision: the initiator and the time. */
export function factsOfInitiator(
  { userId, kind, groupIds }: Pick<Initiator, 'userId' | 'kind' | 'groupIds'>,
  now: Date,
): Pick<Facts, 'now' | 'initiatorId' | 'initiatorKind' | 'initiatorGroupIds'> {
  return { now, initiatorId: userId, initiatorKind: kind, initiatorGroupIds: groupIds }
}

/**
 * Decides on an action by the policies of the vault: one round trip for the candidates (enabled policies of the action's
 * type in groups of the initiator), one more when a candidate limits velocity, then the pure evaluation. Changes nothing
 * and locks nothing, so its velocity figures may be outdated at once. With drafts, returns the decision of the drafts.
 */
export async function decide(db: Db | Trx, question: Question, drafts: Drafts | null = null): Promise<Decision> {
  const { vaultId, actionType, initiator } = question
  const saved = await listCandidates(db, vaultId, actionType, initiator.groupIds)
  return decideTrying(db, saved, question, drafts)
}

/** Decides as `decide`, with candidates that were read before. */
export function decideTrying(
  db: Db | Trx,
  saved: PolicySnapshot[],
  question: Question,
  drafts: Drafts | null,
): Promise<Decision> {
  const { actionType, initiator } = question
  const { groupIds } = initiator
  return decideBy(db, drafts === null ? saved : candidatesUnder(drafts, saved, { actionType, groupIds }), question)
}

/**
 * Returns the sums of the windows of these candidates, for an action that is carried out in this transaction if it is allowed.
 * Near a limit, requests that count against the limit are decided one after the other, and each request sees the writes of
 * earlier requests; far from the limit, they are decided side by side. Only scopes that are limited by a policy that can still
 * match are locked. Facts that must hold until the commit are read after this.
 */
export async function sumLockedVelocity(
  trx: Trx,
  candidates: PolicySnapshot[],
  question: Question,
): Promise<Pick<Facts, 'velocity'>> {
  // The balance is read later, under its lock. Until then it cannot exclude a policy.
  const { available: _, ...lasting } = question.facts
  const matchable = candidates.filter((policy) => !isRuledOut(policy, lasting))
  return sumUnderLock(trx, matchable, candidates, question)
}

/**
 * Decides by these candidates. The sums are read in a separate statement, because a statement that waited for a lock would
 * still see the state before it.
 */
export async function decideBy(db: Db | Trx, candidates: PolicySnapshot[], question: Question): Promise<Decision> {
  const sums = await sumVelocity(db, candidates, question)
  return decideFrom(candidates, { ...question.facts, ...sums }, question.initiator)
}

/** Decides by these candidates from these facts alone; pure. A sum that is not among the facts is unknown. */
export function decideFrom(
  candidates: PolicySnapshot[],
  facts: Facts,
  { isAdmin }: Pick<Initiator, 'isAdmin'>,
): Decision {
  const evaluated = candidates.map((policy) => ({ policy, trace: evaluatePolicy(policy, facts) }))
  const matches = evaluated.flatMap(({ policy, trace }) => (trace.matched ? { policy, inDoubt: trace.inDoubt } : []))
  return { ...combine(matches, isAdmin), trace: evaluated.map(({ trace }) => trace), facts }
}

/** true, false, or null for unknown. Combined by Kleene's logic, so that doubt never outweighs a certain answer. */
type Truth = boolean | null

/**
 * Evaluates a policy and returns its trace. A policy without rules always matches. An unknown result counts against the
 * request: a policy that restricts (block, approval) matches, and a policy that only allows does not. The trace marks this
 * assumption, because an assumption must never be the reason why an action is permitted.
 */
export function evaluatePolicy(policy: PolicySnapshot, facts: Facts, evaluate = evaluateSelector): PolicyTrace {
  const assumed = policy.effect !== 'allow' || asksApproval(policy)
  const rules = policy.rules.map((rule) => evaluateRule(rule, facts, assumed, evaluate))
  const truth = allOf(rules.map(({ truth }) => truth))
  return {
    policyId: policy.id,
    policyCode: policy.code,
    matched: truth ?? assumed,
    inDoubt: truth === null,
    rules: rules.map(({ trace }) => trace),
  }
}

/** Returns true if a policy cannot match, regardless of the facts that are still unknown. */
function isRuledOut(policy: PolicySnapshot, facts: Facts): boolean {
  return policy.rules.some(({ conditionType, selectors }) => {
    const truths = selectors.map((selector) => evaluateSelector(selector, facts).matched)
    return combineTruths(conditionType, truths) === false
  })
}

/** `assumed` is the result of a rule that is unknown; the trace then shows its selectors with the assumed results. */
function evaluateRule(
  { conditionType, selectors }: Rule,
  facts: Facts,
  assumed: boolean,
  evaluate: typeof evaluateSelector,
): { truth: Truth; trace: RuleTrace } {
  const assumedOfSelector = conditionType === 'exclude' ? !assumed : assumed
  const truths: Truth[] = []
  const traces: SelectorTrace[] = []
  for (const selector of selectors) {
    const { matched, observed } = evaluate(selector, facts)
    truths.push(matched)
    const { selectorType, value: expected } = selector
    traces.push({ selectorType, matched: matched ?? assumedOfSelector, expected, observed })
  }
  const truth = combineTruths(conditionType, truths)
  return { truth, trace: { conditionType, matched: truth ?? assumed, selectors: traces } }
}

/** The result of a rule without selectors, or of an unknown type, is unknown. */
function combineTruths(conditionType: string, truths: Truth[]): Truth {
  if (truths.length === 0) return null
  if (conditionType === 'require') return allOf(truths)
  if (conditionType === 'any') return anyOf(truths)
  if (conditionType === 'exclude') return not(anyOf(truths))
  return null
}

function allOf(truths: Truth[]): Truth {
  return not(anyOf(truths.map(not)))
}

function anyOf(truths: Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth
}

/** The initiator with the groups that policies check; `groupIds` includes the built-in group `everyone`. */
export type Initiator = { userId: string; kind: InitiatorKind; groupIds: string[]; isAdmin: boolean }
export type Membership = Initiator & { isAuditor: boolean }

/** Returns a member of the vault who may request actions; null also for an auditor. */
export async function findInitiator(db: Db | Trx, vaultId: string, userId: string): Promise<Initiator | null> {
  return toInitiator(await findMembership(db, vaultId, userId))
}

/** Returns a membership as an initiator; null for an auditor or without a membership. */
export const toInitiator = (found: Membership | null): Initiator | null =>
  found === null || found.isAuditor ? null : found

export type DraftPolicy = PolicySnapshot & { enabled: boolean }

/** `replace`: the drafts alone decide. `add`: they decide together with the saved policies of other codes. */
export const draftModes = ['replace', 'add'] as const

/** Policies that are not saved, to be tried in place of the saved policies or beside them. */
export type Drafts = { mode: (typeof draftModes)[number]; policies: DraftPolicy[] }

/** Returns the candidates as if the drafts were in force. `saved` are the candidates among the saved policies. */
function candidatesUnder(
  { mode, policies }: Drafts,
  saved: PolicySnapshot[],
  { actionType, groupIds }: { actionType: string; groupIds: string[] },
): PolicySnapshot[] {
  const codes = new Set(policies.map(({ code }) => code))
  const kept = mode === 'replace' ? [] : saved.filter(({ code }) => !codes.has(code))
  const tried = policies.filter(
    (policy) => policy.enabled && policy.actionType === actionType && groupIds.includes(policy.groupId),
  )
  return [...kept, ...tried.map(({ enabled: _, ...policy }) => policy)].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** A member of the vault with their role; null when they are disabled or no longer in any group of it. */
export async function findMembership(db: Db | Trx, vaultId: string, userId: string): Promise<Membership | null> {
  const { rows } = await sql<Membership>`${prepared} ${membership(vaultId, userId)}`.execute(db)
  return rows[0] ?? null
}

/** SQL: JSON of `findMembership`, to be a column of another statement. */
export const membershipColumn = (vaultId: string, userId: string): RawBuilder<Membership | null> => sql`
  (select to_json(found) from (${membership(vaultId, userId)}) found)`

const membership = (vaultId: string, userId: string) => sql<Membership>`
  select u.id as "userId", u.kind, m.group_ids || e.id as "groupIds", m.is_admin as "isAdmin", m.is_auditor as "isAuditor"
  from ${membershipOf(sql`${vaultId}`, sql`${userId}`)} m
  join users u on u.id = ${userId} and u.disabled_at is null
  join policy_groups e on e.vault_id = ${vaultId} and ${isEveryone('e')}
  where m.is_member`

/**
 * Actions that other rules than policies decide on: changes of a category, replacements of a transaction (the policies for
 * its order are tried), governance, the first passkey of a person, and adjustments (two administrators agree).
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
  /** The requested action, or `composite`. */
  action: string
  /** The decision on each step. */
  decisions: { actionType: string; decision: Decision }[]
  now: Date
}

/**
 * Keeps the decision on an action that was refused or carried out at once, because no transfer and no approval request keeps
 * it. It is kept with its facts, so that other policies can be tried on it later.
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
