import { describe, expect, it } from 'vitest'
import { decidedElsewhere } from '../../rules/decisions/decide.ts'
import { actionTypes } from '../../rules/selectors/facts.ts'
import { gatedActions } from '../../rules/votes/executor.ts'
import { changeOf } from './decide-again.ts'

it('every action is decided by policies or listed as decided elsewhere', () => {
  const byPolicies: readonly string[] = actionTypes
  expect(gatedActions.filter((action) => !byPolicies.includes(action)).toSorted()).toEqual(decidedElsewhere.toSorted())
})

describe('the change of an outcome', () => {
  const outcome = (effect: 'allow' | 'approval' | 'deny' | 'block', ...thresholds: number[]) => {
    const requirements = thresholds.map((threshold) => ({
      ...{ policyId: 'p', policyCode: 'p', policyName: 'p', threshold, bypassed: false },
      ...{ allowInitiator: false, approvers: null, groupId: 'g' },
    }))
    return { effect, decisionPolicy: null, requirements }
  }
  const ofGroups = (...thresholds: number[]) => {
    const { requirements, ...rest } = outcome('approval', 3)
    const approvers = thresholds.map((threshold, i) => ({ kind: 'group' as const, id: `g${i}`, threshold }))
    return { ...rest, requirements: requirements.map((requirement) => ({ ...requirement, approvers })) }
  }
  it.each([
    [outcome('allow'), outcome('allow'), 'same'],
    [outcome('allow'), outcome('approval', 1), 'stricter'],
    [outcome('approval', 1), outcome('block'), 'stricter'],
    [outcome('approval', 3), outcome('deny'), 'stricter'],
    [outcome('deny'), outcome('block'), 'stricter'],
    [outcome('approval', 2), outcome('approval', 1), 'looser'],
    [outcome('approval', 2), outcome('approval', 2, 2), 'stricter'],
    [outcome('approval', 2), outcome('allow'), 'looser'],
    [outcome('approval', 3), ofGroups(2, 1), 'stricter'],
    [ofGroups(2, 1), ofGroups(2), 'looser'],
  ])('%j to %j', (before, after, change) => {
    expect(changeOf(before, after)).toBe(change)
  })
})
