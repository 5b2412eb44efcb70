import { describe, expect, it } from 'vitest'
import { faultsOf, nothingAllows } from './faults.ts'
import type { PolicyParts } from './terms.ts'

const members = new Map([
  ['treasury', ['ann', 'ben', 'cem']],
  ['board', ['ann']],
  ['empty', []],
])

function policy(change: Partial<PolicyParts>): PolicyParts {
  return {
    ...{ code: 'p', name: 'P', groupId: 'treasury', actionType: 'transfer', effect: 'requireApproval', enabled: true },
    ...{ blockReason: null, adminBypass: false, allowInitiatorApproval: false, approvalThreshold: 1 },
    ...{ approvers: [], rules: [] },
    ...change,
  }
}

const require = (...selectors: PolicyParts['rules'][number]['selectors']): Partial<PolicyParts> => ({
  effect: 'allow',
  approvalThreshold: 0,
  rules: [{ conditionType: 'require', selectors }],
})
const amount = (op: string, value: string) => ({ selectorType: 'amount', value: { op, value } })
const group = (groupId: string) => ({ kind: 'group' as const, groupId })
const user = (userId: string) => ({ kind: 'user' as const, userId })
const only = (kind: string) => [expect.objectContaining({ kind })]

describe('the faults of a policy', () => {
  it.each<[string, Partial<PolicyParts>, unknown[]]>([
    ['two of three others can agree', { approvalThreshold: 2 }, []],
    ['who orders does not vote: two of three remain', { approvalThreshold: 3 }, only('too_few_approvers')],
    ['with the initiator three can', { approvalThreshold: 3, allowInitiatorApproval: true }, []],
    ['a board of one', { approvers: [group('board')], approvalThreshold: 2 }, only('too_few_approvers')],
    [
      'the only voter orders',
      { approvers: [group('board')] },
      [{ kind: 'too_few_for', needed: 1, initiators: ['ann'] }],
    ],
    ['one more person helps', { approvers: [group('board'), user('dee')] }, []],
    [
      'a person who is in the group counts once',
      { approvers: [group('board'), user('ann')], approvalThreshold: 2 },
      only('too_few_approvers'),
    ],
    ['a group that is not known is not judged', { approvers: [group('elsewhere')], approvalThreshold: 9 }, []],
    ['nobody is in the group', { ...require(), groupId: 'empty' }, only('nobody_in_group')],
    ['a policy that is off has none', { approvalThreshold: 9, enabled: false }, []],
    ['a range is none', require(amount('gt', '1'), amount('lte', '2')), []],
    ['an amount above and below', require(amount('gt', '2'), amount('lte', '2')), only('never_matches')],
    ['an amount that is exactly one', require(amount('gte', '2'), amount('lte', '2')), []],
    ['below nothing', require(amount('lt', '0')), only('never_matches')],
    [
      'between upside down',
      require({ selectorType: 'amount', value: { op: 'between', min: '5', max: '4' } }),
      only('never_matches'),
    ],
    [
      'two recipients at once',
      require({ selectorType: 'destinationType', value: 'internal' }, {
        selectorType: 'destinationType',
        value: ['unknown'],
      }),
      only('never_matches'),
    ],
    [
      'two spellings of a token are not judged',
      require({ selectorType: 'token', value: 'TUSD' }, { selectorType: 'token', value: 'cmi8h2k1p0a1b2c3d4e5f6g7h' }),
      [],
    ],
    [
      'required and excluded',
      {
        rules: [
          { conditionType: 'require', selectors: [{ selectorType: 'category', value: 'payroll' }] },
          { conditionType: 'exclude', selectors: [{ selectorType: 'category', value: ['payroll', 'tax'] }] },
        ],
      },
      only('never_matches'),
    ],
  ])('%s', (_title, change, expected) => {
    expect(faultsOf(policy(change), members)).toEqual(expected)
  })

  it('say when no policy allows an action', () => {
    expect(nothingAllows([policy({ effect: 'block' })], 'transfer')).toBe(true)
    expect(nothingAllows([policy({ enabled: false })], 'transfer')).toBe(true)
    expect(nothingAllows([policy({})], 'create_address')).toBe(true)
    expect(nothingAllows([policy({})], 'transfer')).toBe(false)
  })
})
