import { compare } from '@strongroom/sdk'
import { listOf } from './selectors.ts'
import { type Clause, draftOf, type PolicyParts } from './terms.ts'

type Members = ReadonlyMap<string, readonly string[]>

/** A fault of a policy that the service would still accept. */
export type Fault =
  /** There are fewer voters than required votes. */
  | { kind: 'too_few_approvers'; needed: number; approvers: number }
  /** For these initiators, who may not vote on their own orders, too few other voters remain. */
  | { kind: 'too_few_for'; needed: number; initiators: string[] }
  /** No order can meet all conditions. */
  | { kind: 'never_matches'; selectorType: string }
  | { kind: 'nobody_in_group' }
  /** No policy allows anything for this action, so that every order is refused. */
  | { kind: 'nothing_allows' }

/**
 * Finds the faults of a policy.
 * @param members the ids of the members of each group; groups that are left out are not checked
 */
export function faultsOf(policy: PolicyParts, members: Members): Fault[] {
  if (!policy.enabled) return []
  const contradicted = contradictionOf(policy)
  return [
    ...quorumFaults(policy, members),
    ...(contradicted === null ? [] : [{ kind: 'never_matches' as const, selectorType: contradicted }]),
    ...(members.get(policy.groupId)?.length === 0 ? [{ kind: 'nobody_in_group' as const }] : []),
  ]
}

/** Returns true if orders of this action are refused for every initiator. */
export function nothingAllows(policies: readonly PolicyParts[], actionType: string): boolean {
  return !policies.some((policy) => policy.enabled && policy.actionType === actionType && policy.effect !== 'block')
}

function quorumFaults(policy: PolicyParts, members: Members): Fault[] {
  const { effect, approvalThreshold: needed, groupId, allowInitiatorApproval } = policy
  if (effect === 'block' || needed < 1) return []
  const voters = votersOf(policy, members)
  const group = members.get(groupId)
  if (voters === null) return []
  if (voters.size < needed) return [{ kind: 'too_few_approvers', needed, approvers: voters.size }]
  if (allowInitiatorApproval || group === undefined || voters.size > needed) return []
  const stuck = group.filter((id) => voters.has(id))
  if (stuck.length === 0) return []
  if (stuck.length === group.length) return [{ kind: 'too_few_approvers', needed, approvers: voters.size - 1 }]
  return [{ kind: 'too_few_for', needed, initiators: stuck }]
}

/**
 * Returns the ids of the possible voters; without approvers, the members of the policy's group. Returns null if a group
 * is unknown.
 */
function votersOf({ approvers, groupId }: PolicyParts, members: Members): Set<string> | null {
  const named = approvers.length === 0 ? [{ kind: 'group' as const, groupId }] : approvers
  const voters = new Set<string>()
  for (const approver of named) {
    if (approver.kind === 'user') {
      voters.add((approver as { userId: string }).userId)
      continue
    }
    const group = members.get(approver.groupId!)
    if (group === undefined) return null
    for (const id of group) voters.add(id)
  }
  return voters
}

/** Returns the selector type of two required conditions that exclude each other, or null. */
function contradictionOf(policy: PolicyParts): string | null {
  const terms = draftOf(policy).terms.filter(({ clauses }) => clauses.length === 1)
  const required = terms.filter(({ negated }) => !negated).map(({ clauses }) => clauses[0]!)
  const excluded = terms.filter(({ negated }) => negated).map(({ clauses }) => clauses[0]!)
  for (const [index, clause] of required.entries()) {
    const rest = required.slice(index + 1).filter(({ selectorType }) => selectorType === clause.selectorType)
    if (rest.some((other) => excludeEachOther(clause, other)) || isEmptyRange(clause)) return clause.selectorType
    const opposite = excluded.filter(({ selectorType }) => selectorType === clause.selectorType)
    if (opposite.some((other) => isWithin(clause, other))) return clause.selectorType
  }
  return null
}

type Range = { low: string; lowIncluded: boolean; high: string | null; highIncluded: boolean }

function rangeOf({ selectorType, value }: Clause): Range | null {
  const compared = ['amount', 'amountUsd', 'percentOfBalance', 'maxFee', 'riskScore']
  if (!compared.includes(selectorType) && !/AgeHours$/.test(selectorType)) return null
  const { op, value: bound, min, max } = value as { op: string; value: string; min: string; max: string }
  const needed = op === 'between' ? [min, max] : [bound]
  if (!needed.every((limit) => /^\d+(\.\d+)?$/.test(limit ?? ''))) return null
  if (op === 'between') return { low: min, lowIncluded: true, high: max, highIncluded: true }
  if (op === 'gt' || op === 'gte') return { low: bound, lowIncluded: op === 'gte', high: null, highIncluded: false }
  return { low: '0', lowIncluded: true, high: bound, highIncluded: op === 'lte' }
}

function isEmptyRange(clause: Clause): boolean {
  const range = rangeOf(clause)
  return range !== null && isApart(range, { ...range, low: '0', lowIncluded: true })
}

function excludeEachOther(a: Clause, b: Clause): boolean {
  const [first, second] = [rangeOf(a), rangeOf(b)]
  if (first !== null && second !== null) return isApart(first, second) || isApart(second, first)
  const [names, others] = [singleNames(a), singleNames(b)]
  return names !== null && others !== null && !names.some((name) => others.includes(name))
}

/** Returns true if `below` ends before `above` begins. */
function isApart(above: Range, below: Range): boolean {
  if (below.high === null) return false
  const order = compare(above.low, below.high)
  return order > 0 || (order === 0 && !(above.lowIncluded && below.highIncluded))
}

/** Returns true if the excluded clause `other` covers everything that `clause` admits. */
function isWithin(clause: Clause, other: Clause): boolean {
  const [names, excluded] = [singleNames(clause), singleNames(other)]
  return names !== null && excluded !== null && names.every((name) => excluded.includes(name))
}

/**
 * Returns the values of a selector of which an order has exactly one. A token has several spellings, so tokens are left
 * out.
 */
function singleNames({ selectorType, value }: Clause): string[] | null {
  const single = [
    ...['network', 'destinationType', 'firstPaymentToDestination', 'addressLookAlike', 'counterparty'],
    ...['counterpartyKind', 'initiator', 'initiatorKind', 'category'],
  ]
  return single.includes(selectorType) ? listOf<unknown>(value).map(String) : null
}
