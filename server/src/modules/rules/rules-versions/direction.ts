import { everyoneCode } from '../../../access/memberships.ts'
import { canonicalJson, isSameJson } from '../../../lib/canonical-json.ts'
import { compareDecimals } from '../../../lib/money.ts'
import { protects } from '../decisions/action-rights.ts'
import { asksApproval } from '../decisions/decision.ts'
import { pairs } from './difference.ts'
import type { RulesDocument, RulesGroup, RulesPolicy } from './document-schema.ts'

/**
 * The directions of a change of the rules. A tightening can only make decisions stricter, for every initiator and with any
 * other rules. From strict to loose, decisions are: block, deny, approval by more votes, approval, allow. The direction is
 * computed, not declared, and a change without a proof here is a loosening. A proof holds beside any other change, so a
 * change of several parts tightens when all of its parts tighten.
 */
export const directions = ['loosening', 'tightening'] as const
export type Direction = (typeof directions)[number]

export function directionOf(before: RulesDocument, after: RulesDocument): Direction {
  const parts = [
    governanceTightens(before, after),
    groupsTighten(before, after),
    policiesTighten(before, after),
    invitationsTighten(before, after),
    categoriesTighten(before.categories, after.categories),
    walletTightens(before.wallet, after.wallet),
    isSubset(after.tokens.map(canonicalJson), before.tokens.map(canonicalJson)),
    variantsTighten(before.variants, after.variants),
    isSubset((after.serviceKeys ?? []).map(canonicalJson), (before.serviceKeys ?? []).map(canonicalJson)),
    isKept(before.categoryRights, after.categoryRights),
    isKept(before.folders, after.folders),
    namesStay(before.groups, after.groups),
  ]
  return parts.every(Boolean) ? 'tightening' : 'loosening'
}

/**
 * Returns true if one administrator may make the change at once. The governance and the wallet settings always need votes,
 * even for a tightening: a threshold that the voters cannot reach, or a demand for signatures, would freeze the rules.
 */
export function mayChangeAlone(before: RulesDocument, after: RulesDocument): boolean {
  const isOfOne = isSameJson(before.governance, after.governance) && isSameJson(before.wallet, after.wallet)
  return isOfOne && directionOf(before, after) === 'tightening'
}

/**
 * Returns true if the items that both lists contain are equal. A changed item changes the facts of an order, which can make
 * one policy stricter and another looser. No earlier rule names a new item.
 */
const isKept = <Item extends { id: string }>(before: Item[] = [], after: Item[] = []): boolean =>
  pairs(before, after).every(
    ({ before: was, after: is }) => was === undefined || is === undefined || isSameJson(was, is),
  )

/** Returns true if no group changes its code, name or description: a vote for "Treasury" must not count for another group. */
const namesStay = (before: RulesGroup[], after: RulesGroup[]): boolean =>
  pairs(before, after).every(({ before: was, after: is }) => {
    if (was === undefined || is === undefined) return true
    return was.code === is.code && was.name === is.name && was.description === is.description
  })

const idOf = ({ id }: { id: string }) => id
const isSubset = (some: readonly string[], all: readonly string[]) => {
  const known = new Set(all)
  return some.every((id) => known.has(id))
}

function governanceTightens({ governance: before }: RulesDocument, { governance: after }: RulesDocument): boolean {
  return (
    (before.approverGroupId === after.approverGroupId || before.threshold === 0) &&
    after.threshold >= before.threshold &&
    after.looseningDelayHours >= before.looseningDelayHours &&
    after.tighteningDelayHours >= before.tighteningDelayHours
  )
}

/** Returns true if the wallet settings are equal, or if the change only begins to demand signatures. */
function walletTightens(
  { protection: was, ...before }: RulesDocument['wallet'],
  { protection: is, ...after }: RulesDocument['wallet'],
): boolean {
  return isSameJson(before, after) && (was === undefined || was === is)
}

/**
 * Returns true if members of the group decide: administrators, auditors and voters. A change of their number is not a
 * tightening, because every voter can also object.
 */
function decides({ id, isSystem }: RulesGroup, { governance, policies, categories }: RulesDocument): boolean {
  if (isSystem || id === governance.approverGroupId) return true
  return [...policies, ...categories].some(({ approvers }) => approvers.some((approver) => approver.id === id))
}

const votesByName = (userId: string, { policies, categories }: RulesDocument): boolean =>
  [...policies, ...categories].some(({ approvers }) => approvers.some((approver) => approver.id === userId))

function groupsTighten(before: RulesDocument, after: RulesDocument): boolean {
  return pairs(before.groups, after.groups).every(({ before: was, after: is }) => {
    const group = (was ?? is)!
    const [members, remaining] = [was?.members ?? [], is?.members ?? []]
    if (isSameJson(members, remaining)) return true
    if (!isSubset(remaining, members)) return false
    if (decides(group, before) || decides(group, after)) return false
    const gone = members.filter((userId) => !remaining.includes(userId))
    if (gone.some((userId) => votesByName(userId, before))) return false
    // A user without a group has no access to the vault, not even by the policies of everyone.
    const haveLeft = gone.every((userId) => after.groups.every((other) => !other.members.includes(userId)))
    const left = haveLeft ? [group.id, ...everyoneOf(before)] : [group.id]
    if (left.some((id) => mayProtect(id, before) || mayProtect(id, after))) return false
    if (haveLeft) return left.every((id) => !asks(id, before))
    return !restricts(group.id, before) && !restricts(group.id, after)
  })
}

/** Returns true if a policy of the group requires approvals. */
const asks = (groupId: string, { policies }: RulesDocument): boolean =>
  policies.some((policy) => policy.groupId === groupId && asksApproval(policy))

const everyoneOf = ({ groups }: RulesDocument): string[] =>
  groups.filter(({ isSystem, code }) => isSystem && code === everyoneCode).map(idOf)

/** Returns true if leaving the group may remove a right to protect: a policy of the group, or one that names it, gives the right. */
const mayProtect = (groupId: string, { policies }: RulesDocument): boolean =>
  policies.some(
    (policy) =>
      policy.enabled && protects(policy.actionType) && (policy.groupId === groupId || namesGroup(policy, groupId)),
  )

const namesGroup = ({ rules }: RulesPolicy, groupId: string): boolean =>
  rules.some(({ selectors }) =>
    selectors.some(
      ({ selectorType, value }) =>
        selectorType === 'initiatorGroup' && [value].flat().some((named) => named === groupId),
    ),
  )

/** Returns true if leaving the group may lift a restriction: a policy of the group restricts its members, or a rule names it. */
function restricts(groupId: string, { policies }: RulesDocument): boolean {
  return policies.some(
    (policy) =>
      policy.enabled &&
      ((policy.groupId === groupId && (policy.effect !== 'allow' || asksApproval(policy))) ||
        namesGroup(policy, groupId)),
  )
}

function policiesTighten(before: RulesDocument, after: RulesDocument): boolean {
  return pairs(before.policies, after.policies).every(({ before: was, after: is }) => {
    const [earlier, later] = [was?.enabled === true ? was : null, is?.enabled === true ? is : null]
    if ([earlier, later].some((policy) => policy !== null && protects(policy.actionType)))
      return decidesTheSame(earlier, later)
    if (earlier === null) return later === null || later.effect === 'block' || onlyAddsVotes(later, before)
    if (later === null) return permitsAlone(earlier)
    return policyTightens(earlier, later)
  })
}

/** Returns true if only the names of a policy differ. A tightening must not give or remove a right to protect. */
function decidesTheSame(was: RulesPolicy | null, is: RulesPolicy | null): boolean {
  if (was === null || is === null) return false
  const { code, name, description, blockReason } = was
  return isSameJson(was, { ...is, code, name, description, blockReason })
}

/** Returns true if the policy permits without votes. It permits only when its rules certainly hold, so its removal permits less. */
const permitsAlone = (policy: RulesPolicy) => policy.effect === 'allow' && !asksApproval(policy)

/**
 * Returns true if a new policy requires votes only for actions that were permitted before: by a policy that permits everything, or by
 * a policy that requires votes whenever the new policy does, in doubt too. Otherwise an action that was denied could wait for votes.
 */
function onlyAddsVotes(policy: RulesPolicy, before: RulesDocument): boolean {
  if (policy.effect !== 'requireApproval' || !asksApproval(policy)) return false
  const groupIds = [policy.groupId, ...everyoneOf(before)]
  return before.policies.some((earlier) => {
    if (!earlier.enabled || earlier.actionType !== policy.actionType || !groupIds.includes(earlier.groupId))
      return false
    if (earlier.effect === 'requireApproval') return asksApproval(earlier) && matchesMore(policy, earlier)
    return permitsAlone(earlier) && earlier.rules.length === 0
  })
}

function policyTightens(was: RulesPolicy, is: RulesPolicy): boolean {
  if (was.groupId !== is.groupId || was.actionType !== is.actionType) return false
  if (is.effect === 'block') return matchesMore(was, is)
  if (was.effect === 'block') return false
  if (permitsAlone(was) && permitsAlone(is)) return matchesLess(was, is)
  if (!isSameJson(was.rules, is.rules)) return false
  // A policy that asks for votes in doubt lets the action wait for them, and one that allows does not.
  if (was.effect !== is.effect) return false
  return votesTighten(was, is)
}

function votesTighten(was: RulesPolicy, is: RulesPolicy): boolean {
  if (is.approvalThreshold < was.approvalThreshold) return false
  if (is.adminBypass && !was.adminBypass && asksApproval(was)) return false
  if (!asksApproval(was)) return true
  if (is.allowInitiatorApproval && !was.allowInitiatorApproval) return false
  return isSameJson(was.approvers, is.approvers) || addsVoters(was, is)
}

/**
 * Returns true if the votes that suffice after the change contain votes that sufficed before: an approver had to give all votes, and
 * still has to give as many. All earlier voters stay voters, so that everybody who could object still can.
 */
function addsVoters(was: RulesPolicy, is: RulesPolicy): boolean {
  const votesOf = new Map(is.approvers.map((approver) => [keyOf(approver), votesAskedOf(approver, is)]))
  const remains = was.approvers.every((approver) => {
    const votes = votesOf.get(keyOf(approver))
    return votes !== undefined && votes >= votesAskedOf(approver, was)
  })
  return remains && was.approvers.some((approver) => votesAskedOf(approver, was) >= was.approvalThreshold)
}

type Approver = RulesPolicy['approvers'][number]
const keyOf = ({ kind, id }: Approver) => `${kind} ${id}`

/** Returns the number of votes that an approver must give in any case. */
const votesAskedOf = ({ threshold }: Approver, { approvers, approvalThreshold }: RulesPolicy): number =>
  threshold ?? (approvers.length === 1 ? approvalThreshold : 0)

/**
 * Returns true if the policy matches in every case in which the earlier policy matched: it has fewer rules, or rules that hold
 * more often. This includes doubt: two selectors of the same fact with other bounds or lists are unknown in the same cases.
 */
const matchesMore = (was: RulesPolicy, is: RulesPolicy) =>
  is.rules.every((rule) => was.rules.some((earlier) => holdsLess(rule, earlier)))

/** Returns true if every earlier rule is still there, or is replaced by a rule that holds less often. */
const matchesLess = (was: RulesPolicy, is: RulesPolicy) =>
  was.rules.every((earlier) => is.rules.some((rule) => holdsLess(earlier, rule)))

type Rule = RulesPolicy['rules'][number]
type Selector = Rule['selectors'][number]

function holdsLess(was: Rule, is: Rule): boolean {
  if (isSameJson(was, is)) return true
  if (was.conditionType !== 'require' || is.conditionType !== 'require') return false
  return was.selectors.every((selector) => is.selectors.some((other) => matchesLessOften(selector, other)))
}

/** The selectors whose value is a list of names, of which one must match. */
const listed = new Set([
  ...['token', 'network', 'sourceAddress', 'addressGroup', 'destination', 'destinationType', 'counterparty'],
  ...['counterpartyGroup', 'counterpartyKind', 'initiator', 'initiatorGroup', 'initiatorKind', 'category'],
])

function matchesLessOften(was: Selector, is: Selector): boolean {
  if (was.selectorType !== is.selectorType) return false
  if (isSameJson(was.value, is.value)) return true
  if (listed.has(was.selectorType)) {
    return isSubset([is.value].flat().map(canonicalJson), [was.value].flat().map(canonicalJson))
  }
  return boundTightens(was.value, is.value)
}

/** Returns true if both values are the same comparison, and the later bound is equal or narrower. */
function boundTightens(was: unknown, is: unknown): boolean {
  if (!isBound(was) || !isBound(is)) return false
  const { value: earlier, ...kind } = was
  const { value: later, ...otherKind } = is
  if (!isSameJson(kind, otherKind)) return false
  const order = compareDecimals(later, earlier)
  return was.op.startsWith('lt') ? order <= 0 : order >= 0
}

function isBound(value: unknown): value is { op: string; value: string } {
  const { op, value: bound } = (value ?? {}) as Record<string, unknown>
  return ['lt', 'lte', 'gt', 'gte'].includes(op as string) && typeof bound === 'string'
}

function invitationsTighten(before: RulesDocument, after: RulesDocument): boolean {
  return isSubset(after.invitations.map(canonicalJson), before.invitations.map(canonicalJson))
}

type Category = RulesDocument['categories'][number]

/** Values of a category that is not in the list are changed without votes. */
function categoriesTighten(before: Category[], after: Category[]): boolean {
  return pairs(before, after).every(({ before: was, after: is }) => {
    if (was === undefined) return true
    if (is === undefined || is.approvalThreshold < was.approvalThreshold) return false
    if (is.approvalScope !== was.approvalScope && is.approvalScope !== 'assign_and_edit') return false
    if (is.allowInitiatorApproval && !was.allowInitiatorApproval) return false
    return isSameJson(was.approvers, is.approvers)
  })
}

type Variant = RulesDocument['variants'][number]

function variantsTighten(before: Variant[], after: Variant[]): boolean {
  return pairs(before, after).every(({ before: was, after: is }) => {
    if (was === undefined || is === undefined) return is === undefined || !is.enabled
    return (was.enabled || !is.enabled) && was.tokenId === is.tokenId
  })
}
