import { describe, expect, it } from 'vitest'
import type { Decision, Effect, Requirement } from './decision.ts'
import { assertPerson, requireSecondPerson } from './dual-control.ts'

const administrators = 'g-administrators'
const decided = (effect: Effect, requirements: Partial<Requirement>[] = []): Decision => ({
  effect,
  blockReason: null,
  decisionPolicy: null,
  requirements: requirements.map((requirement) => ({
    policyId: 'p1',
    policyCode: 'two-of-three',
    policyName: 'Two of three',
    threshold: 2,
    bypassed: false,
    allowInitiator: false,
    approvers: null,
    groupId: 'g1',
    ...requirement,
  })),
  trace: [],
  policies: [],
  facts: { now: new Date(0), initiatorId: 'u1', initiatorGroupIds: [] },
})
const defaults = {
  policyCode: 'two_administrators',
  threshold: 1,
  bypassed: false,
  allowInitiator: false,
  groupId: administrators,
  peopleOnly: true,
}

describe('dual control', () => {
  const cases: [name: string, decision: Decision, isAdmin: boolean, effect: Effect, requirements: object[]][] = [
    ['a block stays', decided('block'), true, 'block', []],
    ['without a policy, only an administrator may request the action', decided('deny'), false, 'deny', []],
    ['without a policy, another administrator agrees', decided('deny'), true, 'approval', [defaults]],
    ['an allow policy only lets a member request the action', decided('allow'), false, 'approval', [defaults]],
    ['an allow policy does not let an administrator act alone', decided('allow'), true, 'approval', [defaults]],
    [
      'a policy names the voters and their number',
      decided('approval', [{ approvers: [{ kind: 'group', id: 'board' }] }]),
      false,
      'approval',
      [{ policyCode: 'two-of-three', threshold: 2, approvers: [{ kind: 'group', id: 'board' }], peopleOnly: true }],
    ],
    [
      'neither a bypass nor a vote of the initiator counts',
      decided('allow', [{ bypassed: true, allowInitiator: true }]),
      true,
      'approval',
      [{ policyCode: 'two-of-three', bypassed: false, allowInitiator: false, peopleOnly: true }],
    ],
  ]
  it.each(cases)('%s', (_, decision, isAdmin, effect, requirements) => {
    const outcome = requireSecondPerson(decision, { isAdmin }, administrators)
    expect(outcome.effect).toBe(effect)
    expect(outcome.requirements).toMatchObject(requirements)
    expect(outcome.requirements).toHaveLength(requirements.length)
    expect(outcome.requirements.every(({ threshold }) => threshold >= 1)).toBe(true)
  })

  it('is for people', () => {
    expect(() => assertPerson({ kind: 'service' })).toThrow('Only a person')
    expect(() => assertPerson({ kind: 'person' })).not.toThrow()
  })
})
