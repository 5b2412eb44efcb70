import { describe, expect, it } from 'vitest'
import { bodyOf, clausePaths, codeOf, type Draft, draftOf, emptyDraft, type PolicyParts } from './terms.ts'

const amount = (op: string, value: string) => ({ selectorType: 'amount', value: { op, value } })
const token = { selectorType: 'token', value: ['TUSD'] }
const unknownRecipient = { selectorType: 'destinationType', value: ['unknown'] }

const saved: PolicyParts = {
  ...{ code: 'large', name: 'Large', groupId: 'treasury', actionType: 'transfer', effect: 'requireApproval' },
  ...{ blockReason: null, approvalThreshold: 2, adminBypass: true, allowInitiatorApproval: false, enabled: true },
  approvers: [
    { kind: 'group', userId: null, groupId: 'board' },
    { kind: 'user', userId: 'director', groupId: null },
  ],
  rules: [
    { conditionType: 'require', selectors: [token, amount('gt', '1000')] },
    { conditionType: 'any', selectors: [unknownRecipient, amount('gt', '5000')] },
    { conditionType: 'exclude', selectors: [{ selectorType: 'category', value: ['payroll'] }] },
  ],
}

describe('the sentence of a policy', () => {
  it('has a condition for each required selector, and one condition for all selectors of a choice', () => {
    expect(draftOf(saved).terms).toEqual([
      { negated: false, clauses: [token] },
      { negated: false, clauses: [amount('gt', '1000')] },
      { negated: false, clauses: [unknownRecipient, amount('gt', '5000')] },
      { negated: true, clauses: [{ selectorType: 'category', value: ['payroll'] }] },
    ])
  })

  it('is converted back to the same policy', () => {
    const { rules, approvers, approvalThreshold, adminBypass } = bodyOf(draftOf(saved))
    expect(rules).toEqual(saved.rules)
    expect(approvers).toEqual([
      { kind: 'group', groupId: 'board' },
      { kind: 'user', userId: 'director' },
    ])
    expect({ approvalThreshold, adminBypass }).toEqual({ approvalThreshold: 2, adminBypass: true })
  })

  it('keeps the votes that an allowing policy asks for', () => {
    const draft = draftOf({ ...saved, effect: 'allow', approvalThreshold: 1 })
    expect(bodyOf(draft)).toMatchObject({ effect: 'allow', approvalThreshold: 1, approvers: [{}, {}] })
  })

  const refusing: Draft = { ...draftOf(saved), effect: 'block', blockReason: ' Closed ' }
  it('asks for no votes if it refuses, and has a reason only if it refuses', () => {
    expect(bodyOf(refusing)).toMatchObject({
      approvalThreshold: 0,
      approvers: [],
      adminBypass: false,
      blockReason: 'Closed',
    })
    expect(bodyOf({ ...refusing, effect: 'allow' })).toMatchObject({ blockReason: null })
  })

  it('knows the path of each condition in the request body', () => {
    const draft = { terms: [{ negated: true, clauses: [token] }, ...draftOf(saved).terms] }
    const body = bodyOf({ ...emptyDraft('treasury'), ...draft })
    for (const [place, path] of clausePaths(draft)) {
      const [term, clause] = place.split('.').map(Number)
      const [, rule, , selector] = path.split('.').map(Number)
      expect(body.rules![rule!]!.selectors[selector!]).toEqual(draft.terms[term!]!.clauses[clause!])
    }
    expect(clausePaths(draft).size).toBe(6)
  })
})

describe('the code of a policy', () => {
  it.each([
    ['Two of the board', [], 'two-of-the-board'],
    ['Große Zahlung über 1.000 €', [], 'grosse-zahlung-uber-1-000'],
    ['Two of the board', ['two-of-the-board', 'two-of-the-board-2'], 'two-of-the-board-3'],
    ['…', [], 'policy'],
  ])('is made from the name %j, where %j are taken: %j', (name, taken, code) => {
    expect(codeOf(name, taken)).toBe(code)
  })
})
