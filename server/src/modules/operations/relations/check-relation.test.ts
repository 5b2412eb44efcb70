import { describe, expect, it } from 'vitest'
import { relationsPerOperationMax } from '../../../lib/limits.ts'
import { checkRelation, type End, type ExistingRelations, type WantedRelation } from './check-relation.ts'

const end = (more: Partial<End> = {}): End => ({ status: 'confirmed', tokenId: 'usdt', amount: 100n, ...more })
const wanted = (more: Partial<WantedRelation> = {}): WantedRelation => ({
  relationType: 'refund',
  relatedAmount: null,
  tokenId: null,
  source: end(),
  target: end(),
  ...more,
})
const nothing: ExistingRelations = { isRelated: false, isRelatedInReverse: false, relationsCount: 0, refunded: 0n }
const accepted = { effect: 'accept', tokenId: 'usdt' }
const tokenFault = (message: string) => ({ effect: 'fault', field: 'tokenId', message })
const conflict = (reason: string, why: string) => ({ effect: 'conflict', reason, why })
const foreign = end({ tokenId: 'eth' })
const aboveTarget = conflict(
  'amount_exceeded',
  'Refunds and reversals together would be above the amount of the target',
)
const aboveSource = conflict('amount_exceeded', 'The related amount is above the amount of the source')

describe('possible relations', () => {
  it.each<[string, Partial<WantedRelation>, Partial<ExistingRelations>, object]>([
    ['a refund of all', {}, {}, accepted],
    ['a reversal of all', { relationType: 'reversal' }, {}, accepted],
    ['a refund of exactly what is left', { relatedAmount: 40n }, { refunded: 60n }, accepted],
    ['a refund of one unit more than is left', { relatedAmount: 41n }, { refunded: 60n }, aboveTarget],
    ['a reversal of one unit more', { relatedAmount: 41n, relationType: 'reversal' }, { refunded: 60n }, aboveTarget],
    ['a source that counts as a whole', { source: end({ amount: 41n }) }, { refunded: 60n }, aboveTarget],
    ['a source that counts as a whole and fits', { source: end({ amount: 40n }) }, { refunded: 60n }, accepted],
    ['exactly the amount of the source', { relatedAmount: 7n, source: end({ amount: 7n }) }, {}, accepted],
    ['one unit above the source', { relatedAmount: 8n, source: end({ amount: 7n }) }, {}, aboveSource],
    ['a part of a large source', { relatedAmount: 100n, source: end({ amount: 900n }) }, {}, accepted],
    ['the token, named', { tokenId: 'usdt' }, {}, accepted],
    ['another token than that of both', { tokenId: 'eth' }, {}, tokenFault('is not the token of both operations')],
    [
      'the token of one of the two',
      { tokenId: 'eth', source: foreign },
      {},
      tokenFault('is not the token of both operations'),
    ],
    [
      'an amount between two tokens',
      { relatedAmount: 1n, source: foreign },
      {},
      tokenFault('both operations must be of one token for an amount'),
    ],
    [
      'a correction with an amount between two tokens',
      { relationType: 'correction', relatedAmount: 1n, source: foreign },
      {},
      tokenFault('both operations must be of one token for an amount'),
    ],
    ['a refund in another token', { source: foreign }, { refunded: 100n }, { effect: 'accept', tokenId: null }],
    ['a correction above all amounts', { relationType: 'correction', relatedAmount: 999n }, {}, accepted],
    ['a replacement of what was refunded', { relationType: 'replacement' }, { refunded: 100n }, accepted],
    ['the same twice', {}, { isRelated: true }, conflict('already_exists', 'The operations already have this refund')],
    [
      'a circle',
      { relationType: 'correction' },
      { isRelatedInReverse: true },
      conflict('already_exists', 'The target is already a correction of the source'),
    ],
    ['the last relation', {}, { relationsCount: relationsPerOperationMax - 1 }, accepted],
    [
      'one too many',
      {},
      { relationsCount: relationsPerOperationMax },
      conflict('limit_reached', `An operation has at most ${relationsPerOperationMax} relations`),
    ],
  ])('are accepted or refused: %s', (_, more, existing, verdict) => {
    expect(checkRelation(wanted(more), { ...nothing, ...existing })).toEqual(verdict)
  })

  const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const
  const judged = (more: Partial<WantedRelation>) => checkRelation(wanted(more), nothing).effect
  const acceptedOf = (more: (status: End['status']) => Partial<WantedRelation>) =>
    statuses.filter((status) => judged(more(status)) === 'accept')

  it.each(['refund', 'reversal'] as const)('a %s follows an operation that happened', (type) => {
    expect(acceptedOf((status) => ({ relationType: type, source: end({ status }) }))).toEqual([
      'awaiting_approval',
      'pending',
      'confirmed',
    ])
    expect(acceptedOf((status) => ({ relationType: type, target: end({ status }) }))).toEqual(['confirmed'])
    expect(acceptedOf((status) => ({ relationType: type, target: end({ status, tokenId: 'eth' }) }))).toEqual([
      'confirmed',
    ])
  })

  it.each(['correction', 'replacement'] as const)('a %s has to do with operations in any state', (type) => {
    expect(acceptedOf((status) => ({ relationType: type, source: end({ status }) }))).toEqual(statuses)
    expect(acceptedOf((status) => ({ relationType: type, target: end({ status }) }))).toEqual(statuses)
  })

  it('adds up to 2^256-1 and beyond without losing a unit', () => {
    const most = 2n ** 256n - 1n
    const target = end({ amount: most })
    const refundOf = (relatedAmount: bigint) =>
      checkRelation(wanted({ relatedAmount, target, source: end({ amount: most }) }), { ...nothing, refunded: 1n })
    expect(refundOf(most - 1n)).toEqual(accepted)
    expect(refundOf(most)).toEqual(aboveTarget)
  })
})
