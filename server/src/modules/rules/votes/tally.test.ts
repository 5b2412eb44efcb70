import { describe, expect, it } from 'vitest'
import { isApproved, isQuorumReachable, type RequirementState, voterStateOf } from './tally.ts'

const requirement = (approvalsCount: number, reachableCount: number, more: Partial<RequirementState> = {}) => ({
  stepIndex: 0,
  policyId: 'p',
  policyCode: 'p',
  threshold: 2,
  bypassed: false,
  approvalsCount,
  reachableCount,
  ...more,
})

describe('the tally', () => {
  it.each([
    ['no requirement', [], false, true],
    ['enough', [requirement(2, 3)], true, true],
    ['one short', [requirement(1, 3)], false, true],
    ['one step short', [requirement(2, 3), requirement(1, 2, { stepIndex: 1 })], false, true],
    ['out of reach', [requirement(1, 1)], false, false],
    ['one step out of reach', [requirement(2, 2), requirement(0, 1, { stepIndex: 1 })], false, false],
    ['waived', [requirement(0, 0, { bypassed: true })], true, true],
    ['waived and short', [requirement(0, 0, { bypassed: true }), requirement(1, 2)], false, true],
  ])('%s', (_what, requirements, approved, reachable) => {
    expect([isApproved(requirements), isQuorumReachable(requirements)]).toEqual([approved, reachable])
  })

  it.each([
    [null, true, true, { counts: false, voidReason: null, canVote: true }],
    [null, true, false, { counts: false, voidReason: null, canVote: false }],
    [null, false, true, { counts: false, voidReason: null, canVote: false }],
    ['approve', true, true, { counts: true, voidReason: null, canVote: false }],
    ['approve', false, true, { counts: false, voidReason: 'not_entitled', canVote: false }],
    ['reject', true, false, { counts: true, voidReason: null, canVote: false }],
  ] as const)('a voter with decision %s, entitled %s, open %s', (decision, isEntitled, isOpen, state) => {
    expect(voterStateOf({ decision, isEntitled }, isOpen)).toEqual(state)
  })
})
