import { relationsPerOperationMax } from '../../../lib/limits.ts'
import type { OperationStatus } from '../../../lib/operations.ts'
import type { ReasonOf } from '../../../lib/reasons.ts'
import type { RelationType } from './schema.ts'

/** One of the two operations; its amount is raw, in the smallest unit of its token. */
export type End = { status: OperationStatus; tokenId: string; amount: bigint }

export type WantedRelation = {
  relationType: RelationType
  /** The raw amount, above zero; null when the request names no amount. */
  relatedAmount: bigint | null
  /** The token of the amount; null means the token that both operations share. */
  tokenId: string | null
  source: End
  target: End
}

/** The existing relations of the two operations, read under the lock of both. */
export type ExistingRelations = {
  /** True if a relation with the same source, target and type exists. */
  isRelated: boolean
  /** True if a relation of the same type with source and target swapped exists. */
  isRelatedInReverse: boolean
  /** The larger number of relations among the two operations. */
  relationsCount: number
  /** The raw amount of the target that refunds and reversals took back. Sources that ended without effect do not count. */
  refunded: bigint
}

type Verdict =
  | { effect: 'accept'; tokenId: string | null }
  | { effect: 'fault'; field: 'relatedAmountRaw' | 'tokenId'; message: string }
  | { effect: 'conflict'; reason: ReasonOf<409>; why: string }

/**
 * Decides whether the requested relation is permitted (contract 14). Amounts and statuses matter only for refunds and
 * reversals: an operation without effect refunds nothing, and nothing is refunded twice.
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
  if (existing.isRelated) return conflict('already_exists', `The operations already have this ${relationType}`)
  if (existing.isRelatedInReverse)
    return conflict('already_exists', `The target is already a ${relationType} of the source`)
  if (existing.relationsCount >= relationsPerOperationMax) {
    return conflict('limit_reached', `An operation has at most ${relationsPerOperationMax} relations`)
  }
  if (!reducesTarget(relationType)) return { effect: 'accept', tokenId }
  if (target.status !== 'confirmed')
    return conflict(
      'wrong_state',
      `The target is ${target.status}; only a confirmed operation can be refunded or reversed`,
    )
  if (isVoid(source.status))
    return conflict('wrong_state', `The source is ${source.status}; such an operation refunds or reverses nothing`)
  if (tokenId === null) return { effect: 'accept', tokenId }
  const amount = wanted.relatedAmount ?? source.amount
  if (amount > source.amount) return conflict('amount_exceeded', 'The related amount is above the amount of the source')
  if (existing.refunded + amount > target.amount) {
    return conflict('amount_exceeded', 'Refunds and reversals together would be above the amount of the target')
  }
  return { effect: 'accept', tokenId }
}

/** The types whose amounts together must not exceed the target. */
export const refundTypes = ['refund', 'reversal'] as const satisfies RelationType[]
/** The final statuses of an operation without effect. */
export const voidStatuses = ['failed', 'rejected', 'cancelled'] as const satisfies OperationStatus[]

const reducesTarget = (type: RelationType) => (refundTypes as readonly RelationType[]).includes(type)
const isVoid = (status: OperationStatus) => (voidStatuses as readonly OperationStatus[]).includes(status)
const conflict = (reason: ReasonOf<409>, why: string): Verdict => ({ effect: 'conflict', reason, why })
