import { describe, expect, it } from 'vitest'
import { type MatrixPolicy, matrixOf, type Span } from './matrix.ts'

type Rules = MatrixPolicy['rules']

const base = { name: '', actionType: 'transfer', blockReason: null, adminBypass: false, enabled: true } as const

function policy(
  id: string,
  effect: MatrixPolicy['effect'],
  rules: Rules,
  more: Partial<MatrixPolicy> = {},
): MatrixPolicy {
  const threshold = effect === 'requireApproval' ? 1 : 0
  const rest = { allowInitiatorApproval: false, approvers: [], approvalThreshold: threshold, groupId: 'treasury' }
  return { ...base, ...rest, id, code: id, effect, rules, ...more }
}

const require = (...selectors: Rules[number]['selectors']): Rules => [{ conditionType: 'require', selectors }]
const amount = (op: string, value: string) => ({ selectorType: 'amount', value: { op, value } })
const daily = { selectorType: 'velocityAmount', value: { op: 'gt', value: '50', windowSeconds: 86_400, per: 'vault' } }
const tusd = { selectorType: 'token', value: 'TUSD' }

/** Columns and outcomes of the row of a group, in short. */
function row(policies: MatrixPolicy[], groupId = 'treasury', token = 'TUSD') {
  const matrix = matrixOf(policies, { token, groupIds: [groupId], everyoneId: 'everyone' })
  return matrix.spans.map((span, index) => {
    const { result, votes, depends } = matrix.rows[0]!.outcomes[index]!
    return [show(span), result, ...votes.map(({ policyId }) => policyId), ...depends.map((id) => `${id}?`)].join(' ')
  })
}

const show = ({ low, lowIncluded, high, highIncluded }: Span) =>
  `${lowIncluded ? '[' : '('}${low},${high ?? ''}${highIncluded ? ']' : ')'}`

describe('the matrix of policies', () => {
  it.each<[string, MatrixPolicy[], string[]]>([
    ['nothing is allowed without a policy', [], ['(0,) deny']],
    ['a policy without conditions always applies', [policy('a', 'allow', [])], ['(0,) allow']],
    [
      'a bound that is not included belongs to what is below',
      [policy('a', 'allow', []), policy('b', 'requireApproval', require(amount('gt', '100')))],
      ['(0,100] allow', '(100,) approval b'],
    ],
    [
      'a bound that is included belongs to what is above',
      [policy('a', 'allow', []), policy('b', 'requireApproval', require(amount('gte', '100')))],
      ['(0,100) allow', '[100,) approval b'],
    ],
    [
      'both ends of between are included',
      [policy('a', 'allow', require({ selectorType: 'amount', value: { op: 'between', min: '5', max: '7.5' } }))],
      ['(0,5) deny', '[5,7.5] allow', '(7.5,) deny'],
    ],
    [
      'votes add up',
      [policy('a', 'requireApproval', []), policy('b', 'requireApproval', require(amount('gt', '10')))],
      ['(0,10] approval a', '(10,) approval a b'],
    ],
    [
      'a refusal beats everything',
      [policy('a', 'allow', []), policy('b', 'block', require(amount('gt', '10')))],
      ['(0,10] allow', '(10,) block'],
    ],
    [
      'an allowing policy with a threshold asks for votes',
      [policy('a', 'allow', [], { approvalThreshold: 2 })],
      ['(0,) approval a'],
    ],
    [
      'a policy of another token does not apply',
      [policy('a', 'allow', require({ ...tusd, value: ['ETH'] }))],
      ['(0,) deny'],
    ],
    ['a policy of the token applies', [policy('a', 'allow', require(tusd))], ['(0,) allow']],
    [
      'an excluded token turns it round',
      [policy('a', 'allow', [{ conditionType: 'exclude', selectors: [tusd] }])],
      ['(0,) deny'],
    ],
    [
      'what the matrix does not know is left open',
      [policy('a', 'allow', []), policy('b', 'block', require({ selectorType: 'destinationType', value: 'unknown' }))],
      ['(0,) allow b?'],
    ],
    [
      'an alternative that holds decides a choice',
      [
        policy('a', 'allow', [
          { conditionType: 'any', selectors: [tusd, { selectorType: 'destinationType', value: 'internal' }] },
        ]),
      ],
      ['(0,) allow'],
    ],
    [
      'above the limit of a day alone the sum is above it, too',
      [policy('a', 'allow', []), policy('b', 'block', require(daily))],
      ['(0,50] allow b?', '(50,) block'],
    ],
    [
      'policies that are off, or of another action, do not count',
      [policy('a', 'allow', [], { enabled: false }), policy('b', 'allow', [], { actionType: 'create_address' })],
      ['(0,) deny'],
    ],
    ['a policy for everyone applies to the group', [policy('a', 'allow', [], { groupId: 'everyone' })], ['(0,) allow']],
    ['a policy of another group does not', [policy('a', 'allow', [], { groupId: 'board' })], ['(0,) deny']],
  ])('%s', (_title, policies, expected) => {
    expect(row(policies)).toEqual(expected)
  })

  it('compares bounds exactly, however many digits they have', () => {
    const policies = [
      policy('a', 'allow', require(amount('lte', '0.1'))),
      policy('b', 'allow', require(amount('gt', '100000000000000000000.000000000000000001'))),
    ]
    expect(row(policies)).toEqual([
      '(0,0.1] allow',
      '(0.1,100000000000000000000.000000000000000001] deny',
      '(100000000000000000000.000000000000000001,) allow',
    ])
  })
})

describe('two matrices', () => {
  it('agree where policies are written differently but decide alike', () => {
    const saved = policy('a', 'requireApproval', [], { approvers: [{ kind: 'group', userId: null, groupId: 'board' }] })
    const draft = { ...saved, approvers: [{ kind: 'group' as const, groupId: 'board' }] }
    const question = { token: 'TUSD', groupIds: ['treasury'], everyoneId: null }
    expect(matrixOf([draft], question)).toEqual(matrixOf([saved], question))
  })
})
