import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Facts } from '../selectors/facts.ts'
import { evaluatePolicy } from './decide.ts'
import { combine, type Effect, type Match, type PolicySnapshot, type Rule } from './decision.ts'

const plain: PolicySnapshot = {
  id: 'p1',
  groupId: 'g1',
  code: 'p1',
  name: 'Policy',
  actionType: 'transfer',
  effect: 'allow',
  blockReason: null,
  approvalThreshold: 0,
  adminBypass: false,
  allowInitiatorApproval: false,
  rules: [],
  approvers: [],
}
const allow = (id: string, more: Partial<PolicySnapshot> = {}): PolicySnapshot => ({ ...plain, id, code: id, ...more })
const block = (id: string, more: Partial<PolicySnapshot> = {}) => allow(id, { effect: 'block', ...more })
const votes = (id: string, approvalThreshold: number, more: Partial<PolicySnapshot> = {}) =>
  allow(id, { effect: 'requireApproval', approvalThreshold, ...more })

const certainly = (policies: PolicySnapshot[]): Match[] => policies.map((policy) => ({ policy, inDoubt: false }))
const inDoubt = (policies: PolicySnapshot[]): Match[] => policies.map((policy) => ({ policy, inDoubt: true }))

describe('combine', () => {
  const cases: [
    name: string,
    matching: PolicySnapshot[],
    isAdmin: boolean,
    expected: { effect: Effect; policy: string | null; requirements: [id: string, bypassed: boolean][] },
  ][] = [
    ['without a matching policy the action is denied', [], false, { effect: 'deny', policy: null, requirements: [] }],
    [
      'without a matching policy the action is denied for an administrator too',
      [],
      true,
      { effect: 'deny', policy: null, requirements: [] },
    ],
    ['allow allows', [allow('b'), allow('a')], false, { effect: 'allow', policy: 'a', requirements: [] }],
    ['block blocks', [block('b'), block('a')], false, { effect: 'block', policy: 'a', requirements: [] }],
    ['block beats allow', [allow('a'), block('b')], false, { effect: 'block', policy: 'b', requirements: [] }],
    ['block beats approval', [votes('a', 9), block('b')], false, { effect: 'block', policy: 'b', requirements: [] }],
    [
      'approval beats allow',
      [allow('a'), votes('b', 1)],
      false,
      { effect: 'approval', policy: 'b', requirements: [['b', false]] },
    ],
    [
      'allow with a threshold is approval',
      [allow('a', { approvalThreshold: 2 })],
      false,
      { effect: 'approval', policy: 'a', requirements: [['a', false]] },
    ],
    [
      'every approval policy keeps its own requirement; the highest threshold names the decision',
      [votes('b', 3), votes('a', 1), allow('c', { approvalThreshold: 2 })],
      false,
      {
        effect: 'approval',
        policy: 'b',
        requirements: [
          ['a', false],
          ['b', false],
          ['c', false],
        ],
      },
    ],
    [
      'at equal thresholds the policy without adminBypass is stricter',
      [votes('a', 2, { adminBypass: true }), votes('b', 2)],
      false,
      {
        effect: 'approval',
        policy: 'b',
        requirements: [
          ['a', false],
          ['b', false],
        ],
      },
    ],
    [
      'then the lowest id decides',
      [votes('b', 2), votes('a', 2)],
      false,
      {
        effect: 'approval',
        policy: 'a',
        requirements: [
          ['a', false],
          ['b', false],
        ],
      },
    ],
    [
      'adminBypass waives an administrator',
      [votes('a', 2, { adminBypass: true })],
      true,
      { effect: 'allow', policy: 'a', requirements: [['a', true]] },
    ],
    [
      'adminBypass waives nobody else',
      [votes('a', 2, { adminBypass: true })],
      false,
      { effect: 'approval', policy: 'a', requirements: [['a', false]] },
    ],
    [
      'adminBypass waives its own requirement only',
      [votes('a', 2, { adminBypass: true }), votes('b', 1)],
      true,
      {
        effect: 'approval',
        policy: 'a',
        requirements: [
          ['a', true],
          ['b', false],
        ],
      },
    ],
    [
      'adminBypass never lifts a block',
      [block('a', { adminBypass: true })],
      true,
      { effect: 'block', policy: 'a', requirements: [] },
    ],
  ]
  it.each(cases)('T34 %s', (_name, matching, isAdmin, expected) => {
    for (const policies of [matching, matching.toReversed()]) {
      const decision = combine(certainly(policies), isAdmin)
      expect(decision.effect).toBe(expected.effect)
      expect(decision.decisionPolicy?.id ?? null).toBe(expected.policy)
      expect(decision.requirements.map(({ policyId, bypassed }) => [policyId, bypassed])).toEqual(expected.requirements)
      expect(decision.policies.map(({ id }) => id)).toEqual(matching.map(({ id }) => id).toSorted())
      expect(decision.blockReason === null).toBe(expected.effect !== 'block')
    }
  })

  const voting = (id: string, approvalThreshold: number, more: Partial<PolicySnapshot> = {}) =>
    allow(id, { approvalThreshold, ...more })
  const bypass = { adminBypass: true }
  const doubtful: [
    name: string,
    matches: Match[],
    isAdmin: boolean,
    effect: Effect,
    requirements: [id: string, bypassed: boolean][],
  ][] = [
    ['allow with votes permits nothing', inDoubt([voting('a', 1)]), false, 'deny', []],
    [
      'several policies that allow with votes permit nothing',
      inDoubt([voting('a', 1), voting('b', 3)]),
      false,
      'deny',
      [],
    ],
    ['adminBypass of allow with votes permits nothing', inDoubt([voting('a', 1, bypass)]), true, 'deny', []],
    [
      'allow with votes adds them to what is certainly allowed',
      [...inDoubt([voting('a', 2)]), ...certainly([allow('b')])],
      false,
      'approval',
      [['a', false]],
    ],
    [
      'allow with votes adds them to what certainly asks for others',
      [...inDoubt([voting('a', 2)]), ...certainly([voting('b', 1), votes('c', 1)])],
      false,
      'approval',
      [
        ['a', false],
        ['b', false],
        ['c', false],
      ],
    ],
    ['requireApproval waits for its votes', inDoubt([votes('a', 1)]), false, 'approval', [['a', false]]],
    [
      'allow with votes adds them to those of requireApproval',
      inDoubt([voting('a', 2), votes('b', 1)]),
      false,
      'approval',
      [
        ['a', false],
        ['b', false],
      ],
    ],
    ['adminBypass waives nothing', inDoubt([votes('a', 1, bypass)]), true, 'approval', [['a', false]]],
    [
      'adminBypass waives where something is certainly allowed',
      [...inDoubt([votes('a', 1, bypass), voting('b', 1, bypass)]), ...certainly([allow('c')])],
      true,
      'allow',
      [
        ['a', true],
        ['b', true],
      ],
    ],
    ['block blocks', [...inDoubt([block('a')]), ...certainly([allow('b')])], false, 'block', []],
  ]
  it.each(doubtful)('T34 in doubt %s', (_name, matches, isAdmin, effect, requirements) => {
    for (const ordered of [matches, matches.toReversed()]) {
      const decision = combine(ordered, isAdmin)
      expect(decision.effect).toBe(effect)
      expect(decision.requirements.map(({ policyId, bypassed }) => [policyId, bypassed])).toEqual(requirements)
    }
  })

  it('returns the reason of the block with the lowest id, or a default reason', () => {
    const blocks = [block('b', { blockReason: 'B' }), block('a', { blockReason: 'A' })]
    expect(combine(certainly(blocks), false).blockReason).toBe('A')
    expect(combine(certainly([block('a')]), false).blockReason).toBe('A policy of the vault blocks this action')
  })

  it('returns the approvers: the explicit approvers, else the group', () => {
    const approvers = [{ kind: 'user' as const, id: 'third-approver' }]
    const [group, explicit] = combine(
      certainly([votes('a', 1, { allowInitiatorApproval: true }), votes('b', 1, { approvers })]),
      false,
    ).requirements
    expect(group).toEqual({
      policyId: 'a',
      policyCode: 'a',
      policyName: 'Policy',
      threshold: 1,
      bypassed: false,
      allowInitiator: true,
      approvers: null,
      groupId: 'g1',
    })
    expect(explicit).toMatchObject({ approvers, allowInitiator: false })
  })
})

const facts: Facts = { now: new Date('2026-01-30T09:30:00.000Z'), initiatorId: 'first-approver', initiatorGroupIds: [] }
/** Selectors that are true, false and unknown under `facts`. */
const selectors = {
  T: { id: 's1', selectorType: 'initiator', value: 'first-approver' },
  F: { id: 's2', selectorType: 'initiator', value: 'second-approver' },
  U: { id: 's3', selectorType: 'amount', value: { op: 'gt', value: '1' } },
}
const rule = (conditionType: string, truths: string): Rule => ({
  id: 'r1',
  conditionType,
  createdAt: '2026-01-01T00:00:00.000Z',
  selectors: [...truths].map((truth) => selectors[truth as 'T' | 'F' | 'U']),
})

describe('evaluatePolicy', () => {
  const cases: [conditionType: string, truths: string, ifRestricting: boolean, ifAllowing: boolean][] = [
    ['require', 'T', true, true],
    ['require', 'TT', true, true],
    ['require', 'TF', false, false],
    ['require', 'U', true, false],
    ['require', 'TU', true, false],
    ['require', 'FU', false, false],
    ['any', 'F', false, false],
    ['any', 'FT', true, true],
    ['any', 'U', true, false],
    ['any', 'FU', true, false],
    ['any', 'TU', true, true],
    ['exclude', 'F', true, true],
    ['exclude', 'T', false, false],
    ['exclude', 'FT', false, false],
    ['exclude', 'U', true, false],
    ['exclude', 'FU', true, false],
    ['exclude', 'TU', false, false],
    ['require', '', true, false],
    ['any', '', true, false],
    ['exclude', '', true, false],
    ['never-heard-of', 'T', true, false],
    ['constructor', 'F', true, false],
  ]
  it.each(cases)(
    'T34 %s of "%s" fails closed: restricting %s, allowing %s',
    (conditionType, truths, restricting, allowing) => {
      const rules = [rule(conditionType, truths)]
      const matched = (policy: PolicySnapshot) => {
        const trace = evaluatePolicy({ ...policy, rules }, facts)
        expect(trace.rules[0]?.matched).toBe(trace.matched)
        expect(trace.inDoubt).toBe(restricting !== allowing)
        return trace.matched
      }
      expect(matched(block('p'))).toBe(restricting)
      expect(matched(votes('p', 1))).toBe(restricting)
      expect(matched(allow('p', { approvalThreshold: 1 }))).toBe(restricting)
      expect(matched(allow('p'))).toBe(allowing)
    },
  )

  it('a policy without rules always matches, and one with several needs all of them', () => {
    expect(evaluatePolicy(allow('p'), facts).matched).toBe(true)
    const both = [rule('require', 'T'), rule('exclude', 'F')]
    expect(evaluatePolicy(allow('p', { rules: both }), facts).matched).toBe(true)
    expect(evaluatePolicy(allow('p', { rules: [...both, rule('any', 'F')] }), facts).matched).toBe(false)
    const withDoubt = (...more: Rule[]) => evaluatePolicy(block('p', { rules: [rule('any', 'U'), ...more] }), facts)
    expect(withDoubt(rule('any', 'T'))).toMatchObject({ matched: true, inDoubt: true })
    expect(withDoubt(rule('any', 'F'))).toMatchObject({ matched: false, inDoubt: false })
  })

  it('the trace shows each selector as it was assumed, with its expected and observed value', () => {
    const trace = evaluatePolicy(block('p', { rules: [rule('exclude', 'FU')] }), facts)
    expect(trace).toEqual({
      policyId: 'p',
      policyCode: 'p',
      matched: true,
      inDoubt: true,
      rules: [
        {
          conditionType: 'exclude',
          matched: true,
          selectors: [
            { selectorType: 'initiator', matched: false, expected: 'second-approver', observed: 'first-approver' },
            { selectorType: 'amount', matched: false, expected: { op: 'gt', value: '1' }, observed: null },
          ],
        },
      ],
    })
  })
})

describe('the decision as a whole', () => {
  const anyRule = fc.record({
    id: fc.constant('r'),
    createdAt: fc.constant('2026-01-01T00:00:00.000Z'),
    conditionType: fc.constantFrom('require', 'any', 'exclude'),
    selectors: fc.array(
      fc.constantFrom('T', 'F', 'U').map((truth) => selectors[truth as 'T']),
      { maxLength: 3 },
    ),
  })
  const anyPolicy = fc.record({
    effect: fc.constantFrom('allow' as const, 'block' as const, 'requireApproval' as const),
    threshold: fc.integer({ min: 0, max: 3 }),
    adminBypass: fc.boolean(),
    rules: fc.array(anyRule, { maxLength: 2 }),
  })
  const anyPolicies = fc.array(anyPolicy, { maxLength: 6 }).map((drafts) =>
    drafts.map(({ effect, threshold, adminBypass, rules }, i) => {
      const approvalThreshold = effect === 'block' ? 0 : effect === 'requireApproval' ? threshold + 1 : threshold
      return allow(`p${i}`, { effect, approvalThreshold, adminBypass, rules })
    }),
  )
  const decideOn = (policies: PolicySnapshot[], isAdmin: boolean) =>
    combine(
      policies.flatMap((policy) => {
        const { matched, inDoubt } = evaluatePolicy(policy, facts)
        return matched ? { policy, inDoubt } : []
      }),
      isAdmin,
    )

  it('T34 the order of policies never changes it, and a naive oracle agrees', () => {
    fc.assert(
      fc.property(
        anyPolicies.chain((policies) =>
          fc.tuple(fc.constant(policies), fc.shuffledSubarray(policies, { minLength: policies.length })),
        ),
        fc.boolean(),
        ([policies, shuffled], isAdmin) => {
          const decision = decideOn(policies, isAdmin)
          expect(decideOn(shuffled, isAdmin)).toEqual(decision)
          expect({ effect: decision.effect, policy: decision.decisionPolicy?.id ?? null }).toEqual(
            oracle(policies, isAdmin),
          )
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

/** The same rules in a naive form: each unknown result is first replaced by true or false, so that no result is unknown. */
function oracle(policies: PolicySnapshot[], isAdmin: boolean): { effect: Effect; policy: string | null } {
  const holds = (policy: PolicySnapshot, doubtHolds: boolean) => {
    for (const { conditionType, selectors: named } of policy.rules) {
      const wantedOfDoubt = conditionType === 'exclude' ? !doubtHolds : doubtHolds
      const truths = named.map(({ selectorType, value }) =>
        selectorType === 'amount' ? wantedOfDoubt : value === 'first-approver',
      )
      let result = doubtHolds
      if (truths.length > 0 && conditionType === 'require') result = !truths.includes(false)
      if (truths.length > 0 && conditionType === 'any') result = truths.includes(true)
      if (truths.length > 0 && conditionType === 'exclude') result = !truths.includes(true)
      if (!result) return false
    }
    return true
  }
  const restricts = (policy: PolicySnapshot) => policy.effect !== 'allow' || policy.approvalThreshold > 0
  const matching = policies
    .filter((policy) => holds(policy, restricts(policy)))
    .sort((a, b) => a.id.localeCompare(b.id))
  const blocks = matching.filter(({ effect }) => effect === 'block')
  if (blocks.length > 0) return { effect: 'block', policy: blocks[0]!.id }
  const isCertain = matching.some((policy) => holds(policy, false))
  if (!isCertain && !matching.some(({ effect }) => effect === 'requireApproval'))
    return { effect: 'deny', policy: null }
  const approvals = matching.filter(({ approvalThreshold }) => approvalThreshold > 0)
  if (approvals.length === 0) return { effect: 'allow', policy: matching[0]!.id }
  let strictest = approvals[0]!
  for (const policy of approvals) {
    const isHigher = policy.approvalThreshold > strictest.approvalThreshold
    const isEqual = policy.approvalThreshold === strictest.approvalThreshold
    if (isHigher || (isEqual && strictest.adminBypass && !policy.adminBypass)) strictest = policy
  }
  const isWaived = isAdmin && isCertain && approvals.every(({ adminBypass }) => adminBypass)
  return { effect: isWaived ? 'allow' : 'approval', policy: strictest.id }
}
