import { relationsPerOperationMax } from '../../../lib/limits.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { RelationType } from './schema.ts'

/** One of the two operations; its amount is raw, in the smallest unit of its token. */
export type End = { status: OperationStatus; tokenId: string; amount: bigint }

export type WantedRelation = {
  relationType: RelationType
  /** Raw, above zero; null: not said. */
  relatedAmount: bigint | null
  /** null: whatever token both operations are of. */
  tokenId: string | null
  source: End
  target: End
}

/** What relates the two operations already, read under the lock of both. */
export type ExistingRelations = {
  /** The same source, target and type. */
  isRelated: boolean
  /** The same type, the other way round. */
  isRelatedInReverse: boolean
  /** How many relations the one of the two has that has more. */
  relationsCount: number
  /** What refunds and reversals took back of the target, raw; sources that came to nothing are not in it. */
  refunded: bigint
}

type Verdict =
  | { effect: 'accept'; tokenId: string | null }
  | { effect: 'fault'; field: 'relatedAmountRaw' | 'tokenId'; message: string }
  | { effect: 'conflict'; why: string }

/**
 * Whether two operations may be related as asked for (contract 14). Only refunds and reversals take something
 * back, so only they look at amounts and states: what never happened refunds nothing, and nothing is refunded twice.
 */
export function checkRelation(wanted: WantedRelation, existing: ExistingRelations): Verdict {
  const { source, target, relationType } = wanted
  const tokenId = source.tokenId === target.tokenId ? source.tokenId : null
  if (wanted.tokenId !== null && wanted.tokenId !== tokenId) {
    return { effect: 'fault', field: 'tokenId', message: 'is not the token of both operations' }
  }
  if (wanted.relatedAmount !== null && tokenId === null) {
    return { effect: 'fault', field: 'tokenId', message: 'both operations must be of one token for an amount' }
  }
  if (existing.isRelated) return conflict(`The operations have this ${relationType} already`)
  if (existing.isRelatedInReverse) return conflict(`The target is a ${relationType} of the source already`)
  if (existing.relationsCount >= relationsPerOperationMax) {
    return conflict(`An operation has at most ${relationsPerOperationMax} relations`)
  }
  if (!reducesTarget(relationType)) return { effect: 'accept', tokenId }
  if (target.status !== 'confirmed') return conflict(`The target is ${target.status}: there is nothing to take back`)
  if (isVoid(source.status)) return conflict(`The source is ${source.status}: it takes nothing back`)
  if (tokenId === null) return { effect: 'accept', tokenId }
  const amount = wanted.relatedAmount ?? source.amount
  if (amount > source.amount) return conflict('The related amount is above the amount of the source')
  if (existing.refunded + amount > target.amount) {
    return conflict('Refunds and reversals together would be above the amount of the target')
  }
  return { effect: 'accept', tokenId }
}

/** The types whose amounts add up against the target. */
export const refundTypes = ['refund', 'reversal'] as const satisfies RelationType[]
/** The ends of an operation that never happened. */
export const voidStatuses = ['failed', 'rejected', 'cancelled'] as const satisfies OperationStatus[]

const reducesTarget = (type: RelationType) => (refundTypes as readonly RelationType[]).includes(type)
const isVoid = (status: OperationStatus) => (voidStatuses as readonly OperationStatus[]).includes(status)
const conflict = (why: string): Verdict => ({ effect: 'conflict', why })
