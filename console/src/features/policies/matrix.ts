import { compare } from '@strongroom/sdk'
import { listOf } from './selectors.ts'
import { type Clause, type Draft, draftOf, type PolicyParts, type Term } from './terms.ts'

/**
 * A part of the line of amounts: a single amount if `low` equals `high`, otherwise all amounts between them, without
 * both ends. `high` is null if the part has no upper end.
 */
type Piece = { low: string; high: string | null }

/** A range of amounts with the same decision. */
export type Span = { low: string; lowIncluded: boolean; high: string | null; highIncluded: boolean }

/**
 * True and false are certain. Null depends on facts outside of the matrix, such as the recipient or earlier transfers.
 */
type Certainty = boolean | null

export type MatrixPolicy = PolicyParts & { id: string }

/** The outcome of an order, as far as group, token and amount decide it. */
export type Outcome = {
  result: 'allow' | 'approval' | 'block' | 'deny'
  /** The policies that require votes, each with its own threshold. */
  votes: { policyId: string; threshold: number; approvers: Draft['approvers']; groupId: string }[]
  /** The policies that may also apply, depending on their other conditions. */
  depends: string[]
}

export type Matrix = { spans: Span[]; rows: { groupId: string; outcomes: Outcome[] }[] }

type Question = {
  token: string
  /** The groups of the initiators. All initiators are also in `everyone`. */
  groupIds: readonly string[]
  everyoneId: string | null
  /** Bounds that other policies set, so that two matrices with the same bounds can be compared. */
  bounds?: readonly string[]
}

/** Computes the decisions of the policies on transfers of a token, by amount and by the group of the initiator. */
export function matrixOf(policies: readonly MatrixPolicy[], question: Question): Matrix {
  const active = policies.filter(({ enabled, actionType }) => enabled && actionType === 'transfer')
  const pieces = piecesBetween(question.bounds ?? boundsOf(active))
  const rows = question.groupIds.map((groupId) => {
    const groups = [groupId, ...(question.everyoneId === null ? [] : [question.everyoneId])]
    return { groupId, outcomes: pieces.map((piece) => outcomeOf(active, { groups, token: question.token, piece })) }
  })
  return merge(pieces, rows)
}

/** Returns every amount at which the decision of a policy may change. */
export function boundsOf(policies: readonly MatrixPolicy[]): string[] {
  const clauses = policies.flatMap(({ rules }) => rules.flatMap(({ selectors }) => selectors))
  const found = clauses
    .filter(({ selectorType }) => selectorType === 'amount' || selectorType === 'velocityAmount')
    .flatMap(({ value }) => {
      const { value: bound, min, max } = value as { value?: string; min?: string; max?: string }
      return [bound, min, max].filter((text): text is string => text !== undefined && /^\d+(\.\d+)?$/.test(text))
    })
  const sorted = found.toSorted(compare)
  return sorted.filter((bound, index) => index === 0 || compare(sorted[index - 1]!, bound) !== 0)
}

function piecesBetween(bounds: readonly string[]): Piece[] {
  const ends = bounds.filter((bound) => compare(bound, '0') > 0)
  const pieces: Piece[] = []
  let low = '0'
  for (const bound of ends) {
    pieces.push({ low, high: bound }, { low: bound, high: bound })
    low = bound
  }
  return [...pieces, { low, high: null }]
}

type Order = { groups: readonly string[]; token: string; piece: Piece }

function outcomeOf(policies: readonly MatrixPolicy[], order: Order): Outcome {
  const found = policies
    .filter(({ groupId }) => order.groups.includes(groupId))
    .map((policy) => ({ policy, holds: and(draftOf(policy).terms.map((term) => holdsOf(term, order))) }))
  const certain = found.filter(({ holds }) => holds === true).map(({ policy }) => policy)
  const depends = found.filter(({ holds }) => holds === null).map(({ policy }) => policy.id)
  const blocked = certain.some(({ effect }) => effect === 'block')
  if (blocked) return { result: 'block', votes: [], depends: [] }
  const votes = certain
    .filter(({ effect, approvalThreshold }) => effect === 'requireApproval' || approvalThreshold > 0)
    .map((policy) => ({
      policyId: policy.id,
      threshold: Math.max(1, policy.approvalThreshold),
      approvers: draftOf(policy).approvers,
      groupId: policy.groupId,
    }))
  if (certain.length === 0) return { result: 'deny', votes, depends }
  return { result: votes.length > 0 ? 'approval' : 'allow', votes, depends }
}

function and(certainties: readonly Certainty[]): Certainty {
  if (certainties.includes(false)) return false
  return certainties.includes(null) ? null : true
}

function holdsOf({ negated, clauses }: Term, order: Order): Certainty {
  const found = clauses.map((clause) => clauseHolds(clause, order))
  const some = found.includes(true) ? true : found.includes(null) ? null : false
  return negated && some !== null ? !some : some
}

function clauseHolds({ selectorType, value }: Clause, { groups, token, piece }: Order): Certainty {
  if (selectorType === 'token') return listOf<string>(value).includes(token)
  if (selectorType === 'initiatorGroup') return listOf<string>(value).some((id) => groups.includes(id)) || null
  if (selectorType === 'amount') return comparisonHolds(value as Comparison, piece)
  if (selectorType !== 'velocityAmount') return null
  // The sum of a window is at least the amount itself. If the amount alone exceeds the limit, so does the sum.
  const { op } = value as Comparison
  const alone = comparisonHolds(value as Comparison, piece)
  if (op === 'gt' || op === 'gte') return alone === true ? true : null
  return alone === false ? false : null
}

type Comparison = { op: string; value?: string; min?: string; max?: string }

function comparisonHolds({ op, value, min, max }: Comparison, piece: Piece): Certainty {
  if (op === 'between') {
    return and([comparisonHolds({ op: 'gte', value: min! }, piece), comparisonHolds({ op: 'lte', value: max! }, piece)])
  }
  if (value === undefined || !/^\d+(\.\d+)?$/.test(value)) return null
  const isPoint = piece.high !== null && compare(piece.low, piece.high) === 0
  if (isPoint) {
    const order = compare(piece.low, value)
    return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op] ?? null
  }
  const above = compare(piece.low, value) >= 0
  const below = piece.high !== null && compare(piece.high, value) <= 0
  if (!above && !below) return null
  return op === 'gt' || op === 'gte' ? above : below
}

/** Merges neighbours with the same outcome in every row into a column. */
function merge(pieces: readonly Piece[], rows: Matrix['rows']): Matrix {
  const starts = pieces
    .map((_, index) => index)
    .filter((index) => index === 0 || rows.some(({ outcomes }) => !isSame(outcomes[index - 1]!, outcomes[index]!)))
  const spans = starts.map((start, index): Span => {
    const first = pieces[start]!
    const last = pieces[(starts[index + 1] ?? pieces.length) - 1]!
    const isPoint = ({ low, high }: Piece) => low === high
    return { low: first.low, lowIncluded: isPoint(first), high: last.high, highIncluded: isPoint(last) }
  })
  return {
    spans,
    rows: rows.map(({ groupId, outcomes }) => ({ groupId, outcomes: starts.map((start) => outcomes[start]!) })),
  }
}

export function isSame(a: Outcome, b: Outcome): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
