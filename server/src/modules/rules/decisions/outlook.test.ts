import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluatePolicy } from './decide.ts'
import { combine, type PolicyEffect, type PolicySnapshot } from './decision.ts'
import { outlooksOf } from './outlook.ts'

const me = { userId: 'me', kind: 'person' as const, groupIds: ['team', 'everyone'], isAdmin: false }
const admin = { ...me, isAdmin: true }

type Selector = { selectorType: string; value: unknown }
const mine: Selector = { selectorType: 'initiator', value: 'me' }
const others: Selector = { selectorType: 'initiatorGroup', value: 'board' }
const large: Selector = { selectorType: 'amount', value: { op: 'gt', value: '5' } }
const always: Selector = { selectorType: 'time', value: { timezone: 'UTC', days: ['mon'], from: '00:00', to: '24:00' } }

let count = 0
function policy(effect: PolicyEffect, selectors: Selector[] = [], rest: Partial<PolicySnapshot> = {}): PolicySnapshot {
  const id = `p${++count}`
  const rules = selectors.map((selector, index) => ({
    id: `r${index}`,
    conditionType: 'require',
    createdAt: '2026-01-01T00:00:00.000Z',
    selectors: [{ id: 's', ...selector }],
  }))
  const approvalThreshold = effect === 'requireApproval' ? 1 : 0
  const common = { groupId: 'everyone', code: id, name: id, actionType: 'transfer', blockReason: null, approvers: [] }
  return {
    ...common,
    id,
    effect,
    approvalThreshold,
    adminBypass: false,
    allowInitiatorApproval: false,
    rules,
    ...rest,
  }
}
const outlook = (...policies: PolicySnapshot[]) => outlooksOf(policies, me).transfer

describe('the outlook of a member on each action', () => {
  it('is deny when no policy matches, and each action has an outlook of its own', () => {
    const { transfer, create_address: address } = outlooksOf([policy('allow')], me)
    expect([transfer, address]).toEqual(['allow', 'deny'])
  })

  it('is decided by selectors of the initiator', () => {
    expect(outlook(policy('allow', [mine]))).toBe('allow')
    expect(outlook(policy('allow', [others]))).toBe('deny')
    expect(outlook(policy('allow', [mine]), policy('block', [others]))).toBe('allow')
    expect(outlook(policy('allow'), policy('block', [mine]))).toBe('deny')
    expect(outlook(policy('allow'), policy('requireApproval'))).toBe('approval')
    expect(outlook(policy('allow', [], { approvalThreshold: 2 }))).toBe('approval')
  })

  it('is depends when the decision needs a fact of the action, such as its time', () => {
    expect(outlook(policy('allow', [large]))).toBe('depends')
    expect(outlook(policy('allow', [always]))).toBe('depends')
    expect(outlook(policy('allow'), policy('requireApproval', [large]))).toBe('depends')
    expect(outlook(policy('allow'), policy('block', [large]))).toBe('depends')
  })

  it('is not depends when no fact of the action can change the decision', () => {
    expect(outlook(policy('allow'), policy('allow', [large]))).toBe('allow')
    expect(outlook(policy('requireApproval'), policy('requireApproval', [large]))).toBe('approval')
    expect(outlook(policy('block'), policy('allow', [large]))).toBe('deny')
    expect(outlook(policy('block', [large]))).toBe('deny')
    expect(outlook(policy('allow', [large, others]))).toBe('deny')
  })

  it('is allow when the votes are waived for the initiator', () => {
    const waived = policy('requireApproval', [], { adminBypass: true })
    expect([outlooksOf([waived], me).transfer, outlooksOf([waived], admin).transfer]).toEqual(['approval', 'allow'])
  })

  it('is either depends or the decision on every order', () => {
    const selectors = fc.subarray([mine, others, large, { selectorType: 'token', value: 'ETH' }], { maxLength: 2 })
    const anyPolicy = fc
      .tuple(fc.constantFrom<PolicyEffect>('allow', 'block', 'requireApproval'), selectors, fc.boolean())
      .map(([effect, chosen, adminBypass]) => policy(effect, chosen, { adminBypass }))
    const orders = ['1', '9'].flatMap((amount) =>
      ['ETH', 'USDT'].map((code) => ({ amount, token: { id: `id of ${code}`, code } })),
    )
    const property = fc.property(fc.array(anyPolicy, { maxLength: 5 }), fc.boolean(), (policies, isAdmin) => {
      const effects = orders.map((order) => {
        const facts = { now: new Date(), initiatorId: 'me', initiatorGroupIds: me.groupIds, ...order }
        const matches = policies.filter((policy) => evaluatePolicy(policy, facts).matched)
        const { effect } = combine(
          matches.map((policy) => ({ policy, inDoubt: false })),
          isAdmin,
        )
        return effect === 'block' ? 'deny' : effect
      })
      const found = outlooksOf(policies, { ...me, isAdmin }).transfer
      if (found !== 'depends') {
        expect(new Set(effects)).toEqual(new Set([found]))
        return
      }
      const looksAtOrder = policies.some(({ rules }) =>
        rules.some(({ selectors: [selector] }) => ['amount', 'token'].includes(selector!.selectorType)),
      )
      expect(looksAtOrder).toBe(true)
    })
    fc.assert(property, { numRuns: 500 })
  })
})
