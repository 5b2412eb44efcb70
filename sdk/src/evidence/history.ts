import type { Json } from './evidence.ts'
import type { RecordContent } from './proofs.ts'

/** The history of a transfer according to its audit records alone. */
export interface History {
  requested: RecordContent
  /** `transfer.requested` in full. */
  order: Json
  /** The requirements and the votes of the transfer, or of the payout that contains it. */
  requirements: Requirement[]
  votes: Vote[]
  /** Null if the records do not form a single path of statuses. */
  status: string | null
  /** The record of the last change of status; null if there was no change. */
  last: RecordContent | null
  /** Hashes of its transactions that the records name. */
  txHashes: Set<unknown>
  /** The newest rate on record; undefined if no rate is on record, as in older versions. */
  rate: Json | null | undefined
  /** The metadata on record; undefined if none is on record, as in older versions. */
  metadata: Json | undefined
}

export interface Requirement {
  policyCode: string
  threshold: number
  bypassed: boolean
  voters: string[]
}

export interface Vote {
  person: string | null
  decision: string
  comment: unknown
  votedAt: string
  payloadHash: unknown
  /** Hash of the signed vote; undefined if the vote was not signed. */
  signedVote: unknown
}

const movements = new Set(
  ['released', 'vetoed', 'expired', 'cancelled', 'confirmed', 'failed'].map((verb) => `transfer.${verb}`),
)

/** Reads the history from the records of a file. Returns null unless exactly one record holds the order. */
export function readHistory(records: readonly RecordContent[]): History | null {
  const [requested, ...others] = records.filter(({ action }) => action === 'transfer.requested')
  if (requested === undefined || others.length > 0) return null
  const order = requested.details
  const payout = records.find(({ action, targetId }) => action === 'payout.requested' && targetId === payoutIdOf(order))
  const votedOn = payoutIdOf(order) === null ? order : (payout?.details ?? {})
  const { status, last } = statusOf(String(order.status), records)
  return {
    requested,
    order,
    requirements: (Array.isArray(votedOn.requirements) ? votedOn.requirements : []) as Requirement[],
    votes: votesOf(records, payoutIdOf(order)),
    status,
    last,
    txHashes: hashesOf(records),
    rate: rateOf(order, records),
    metadata: metadataOf(order, records),
  }
}

/** Returns the id of the payout that contains the transfer, or null. */
export const payoutIdOf = ({ payout }: Json): string | null =>
  ((payout as Json | undefined)?.id as string | undefined) ?? null

function statusOf(first: string, records: readonly RecordContent[]): Pick<History, 'status' | 'last'> {
  let status: string | null = first
  let last: RecordContent | null = null
  const left = records.filter(({ action }) => movements.has(action))
  while (left.length > 0) {
    const next = left.findIndex(({ details }) => details.from === status)
    if (next === -1) return { status: null, last }
    last = left.splice(next, 1)[0]!
    status = String(last.details.to)
  }
  return { status, last }
}

/** Returns the votes. A vote on a row is a vote on its payout. */
function votesOf(records: readonly RecordContent[], payoutId: string | null): Vote[] {
  const single: Record<string, string> = { 'transfer.approved': 'approve', 'transfer.rejected': 'reject' }
  const cast = records.filter(({ action, targetId }) =>
    payoutId === null ? action in single : action === 'payout.voted' && targetId === payoutId,
  )
  return cast.map(({ action, actorId, createdAt, details }) => ({
    person: actorId,
    decision: single[action] ?? String(details.decision),
    comment: details.comment,
    votedAt: createdAt,
    payloadHash: details.payloadHash,
    signedVote: details.signedVote,
  }))
}

function hashesOf(records: readonly RecordContent[]): Set<unknown> {
  const named = records.flatMap(({ action, details }) =>
    action === 'transfer.replaced' ? [details.from, details.to] : movements.has(action) ? [details.txHash] : [],
  )
  return new Set(named.filter((hash) => typeof hash === 'string'))
}

function rateOf({ rate }: Json, records: readonly RecordContent[]): History['rate'] {
  const added = records.findLast(({ action }) => action === 'operation.rate_added')
  return added?.details ?? (rate as Json | null | undefined)
}

function metadataOf({ metadata, category }: Json, records: readonly RecordContent[]): History['metadata'] {
  if (metadata === undefined) return undefined
  const changes = records.filter(({ action }) => action === 'operation.metadata_updated')
  const after = changes.map(({ details }) => details.after as Json)
  // The category also changes by assignments. Their records say which assignment was added or removed, and not which
  // category is first now.
  const isReassigned = records.some(({ action }) => action.startsWith('category_assignment.'))
  const ordered = isReassigned ? {} : { category: category ?? null }
  return Object.assign({ ...ordered }, metadata, ...after) as Json
}
