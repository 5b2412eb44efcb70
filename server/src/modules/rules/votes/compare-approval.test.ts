import { describe, expect, it } from 'vitest'
import {
  type ApprovalState,
  type CastVote,
  differenceOfApproval,
  type RecordedRequirement,
} from './compare-approval.ts'

const requirement = (more: Partial<RecordedRequirement> = {}): RecordedRequirement => ({
  stepIndex: 0,
  policyId: 'large',
  policyCode: 'large',
  threshold: 2,
  bypassed: false,
  voters: ['ann', 'ben', 'cid'],
  ...more,
})
const yes = (...userIds: string[]): CastVote[] => userIds.map((userId) => ({ userId, decision: 'approve' }))
const same = (requirements: RecordedRequirement[], votes = yes('ann', 'ben')): ApprovalState => ({
  requirements,
  votes,
})
const short = 'it went on without the required votes'

describe('T57 an approval in the tables is compared with its audit records', () => {
  it.each<[what: string, stored: ApprovalState, expected: string | null]>([
    ['two of two', same([requirement()]), null],
    ['one of two', same([requirement()], yes('ann')), short],
    ['one person twice', same([requirement()], yes('ann', 'ann')), short],
    ['one voter and one person who is not a voter', same([requirement()], yes('ann', 'dan')), short],
    ['a veto among them', same([requirement()], [...yes('ann'), { userId: 'ben', decision: 'reject' }]), short],
    ['one of two policies', same([requirement(), requirement({ policyId: 'other', voters: ['cid', 'dan'] })]), short],
    [
      'one policy, the other waived',
      same([requirement(), requirement({ policyId: 'other', bypassed: true, voters: [] })]),
      null,
    ],
    ['one of two steps', same([requirement(), requirement({ stepIndex: 1, threshold: 3 })]), short],
  ])('%s', (_what, state, expected) => {
    expect(differenceOfApproval(state, state, true)).toBe(expected)
    expect(differenceOfApproval(state, state, false)).toBeNull()
  })

  it.each<[what: string, stored: ApprovalState, expected: string | null]>([
    ['in another order', same([requirement({ voters: ['cid', 'ben', 'ann'] })], yes('ben', 'ann')), null],
    ['a lower threshold', same([requirement({ threshold: 1 })]), 'its requirements or their voters were changed'],
    ['no requirement', same([]), 'its requirements or their voters were changed'],
    [
      'an additional voter',
      same([requirement({ voters: ['ann', 'ben', 'cid', 'dan'] })]),
      'its requirements or their voters were changed',
    ],
    ['an additional vote', same([requirement()], yes('ann', 'ben', 'cid')), 'its votes were changed'],
    [
      'a reversed vote',
      same([requirement()], [...yes('ann'), { userId: 'ben', decision: 'reject' }]),
      'its votes were changed',
    ],
  ])('%s', (_what, stored, expected) => {
    expect(differenceOfApproval(stored, same([requirement()]), true)).toBe(expected)
  })

  it('for a request of an older version it needs at least one recorded vote', () => {
    const stored = same([requirement()], yes('ann'))
    expect(differenceOfApproval(stored, { requirements: null, votes: yes('ann') }, true)).toBeNull()
    expect(differenceOfApproval(same([requirement()], []), { requirements: null, votes: [] }, true)).toBe(short)
    expect(differenceOfApproval(stored, { requirements: null, votes: [] }, true)).toBe('its votes were changed')
  })
})
