import { describe, expect, it } from 'vitest'
import { combine, type Decision, type PolicyEffect, type PolicySnapshot } from '../decisions/decision.ts'
import { nextStatus, type RequestEvent, requestStatuses } from './lifecycle.ts'
import { outcomeOf } from './request-action.ts'

const policy = (id: string, effect: PolicyEffect, more: Partial<PolicySnapshot> = {}): PolicySnapshot => ({
  id,
  groupId: 'g',
  code: id,
  name: id,
  actionType: 'counterparty_create',
  effect,
  blockReason: null,
  approvalThreshold: effect === 'requireApproval' ? 1 : 0,
  adminBypass: false,
  allowInitiatorApproval: false,
  rules: [],
  approvers: [],
  ...more,
})
const decision = (policies: PolicySnapshot[], isAdmin = false): Decision => ({
  ...combine(
    policies.map((policy) => ({ policy, inDoubt: false })),
    isAdmin,
  ),
  trace: [],
  facts: { now: new Date(0), initiatorId: 'i', initiatorGroupIds: [] },
})

const allow = decision([policy('allow', 'allow')])
const block = decision([policy('block', 'block', { blockReason: 'Closed' })])
const deny = decision([])
const ask = decision([policy('ask', 'requireApproval')])
const waived = decision([policy('waived', 'requireApproval', { adminBypass: true })], true)

describe('the outcome of the steps of a request', () => {
  it.each([
    ['applies when all steps are allowed', [allow, allow], 'apply'],
    ['applies when all votes are waived', [waived, waived], 'apply'],
    ['applies when each step is allowed or waived', [allow, waived], 'apply'],
    ['waits when one step needs votes', [allow, ask], 'wait'],
    ['waits when one step needs votes and another is waived', [waived, ask], 'wait'],
    ['refuses when one step is denied', [allow, deny], 'refuse'],
    ['refuses when one step is denied and another needs votes', [ask, deny], 'refuse'],
    ['refuses when one step is blocked', [block, allow], 'refuse'],
    ['refuses when one step is blocked and another needs votes', [ask, allow, block], 'refuse'],
  ])('%s', (_what, decisions, effect) => {
    expect(outcomeOf(decisions).effect).toBe(effect)
  })

  it('names a blocked step before a denied step', () => {
    expect(outcomeOf([deny, block])).toEqual({
      effect: 'refuse',
      stepIndex: 1,
      reason: 'blocked_by_policy',
      message: 'Closed',
    })
    expect(outcomeOf([allow, deny])).toEqual({
      effect: 'refuse',
      stepIndex: 1,
      reason: 'no_policy_allows',
      message: 'No policy allows this',
    })
  })

  it('is decided by the strictest requirement that was not waived', () => {
    const strictest = (...decisions: Decision[]) => {
      const outcome = outcomeOf(decisions)
      return outcome.effect === 'wait' ? outcome.strictest.policyId : null
    }
    const threshold = (id: string, approvalThreshold: number, more = {}) =>
      decision([policy(id, 'requireApproval', { approvalThreshold, ...more })])
    expect(strictest(threshold('a', 1), threshold('b', 3), threshold('c', 2))).toBe('b')
    expect(strictest(threshold('a', 2, { adminBypass: true }), threshold('b', 2))).toBe('b')
    expect(strictest(threshold('b', 2), threshold('a', 2))).toBe('a')
    expect(strictest(waived, ask)).toBe('ask')
  })

  it('returns the step of each requirement', () => {
    const outcome = outcomeOf([allow, ask, waived])
    expect(outcome.effect === 'wait' && outcome.requirements).toMatchObject([
      { stepIndex: 1, policyId: 'ask', bypassed: false },
      { stepIndex: 2, policyId: 'waived', bypassed: true },
    ])
  })
})

describe('the status of a request', () => {
  const events: Record<RequestEvent, string> = {
    approved: 'applied',
    rejected: 'rejected',
    cancelled: 'cancelled',
    expired: 'expired',
    applyFailed: 'failed',
    targetChanged: 'stale',
  }

  it.each(Object.entries(events))('changes from pending by %s to %s, and from no other status', (event, status) => {
    for (const from of requestStatuses)
      expect(nextStatus(from, event as RequestEvent)).toBe(from === 'pending' ? status : null)
  })
})
