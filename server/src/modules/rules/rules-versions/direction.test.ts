import { expect, test } from 'vitest'
import { directionOf, mayChangeAlone } from './direction.ts'
import type { RulesDocument, RulesPolicy } from './document-schema.ts'

const policy: RulesPolicy = {
  id: 'p1',
  groupId: 'members',
  code: 'p1',
  name: 'Policy',
  description: null,
  actionType: 'transfer',
  effect: 'allow',
  blockReason: null,
  approvalThreshold: 0,
  adminBypass: false,
  allowInitiatorApproval: false,
  enabled: true,
  rules: [],
  approvers: [],
}
const group = (id: string, members: string[], isSystem = false) => ({
  id,
  code: id,
  name: id,
  description: null,
  isSystem,
  members,
})
const rules = (change: Partial<RulesDocument> = {}): RulesDocument => ({
  schemaVersion: 1,
  governance: { threshold: 2, approverGroupId: null, looseningDelayHours: 0, tighteningDelayHours: 0 },
  groups: [group('administrators', ['a', 'b', 'c'], true), group('members', ['a', 'm', 'n']), group('other', ['m'])],
  policies: [],
  invitations: [],
  categories: [],
  wallet: { url: 'https://wallet.example.org', secretFingerprint: null, webhookSecretFingerprint: null },
  tokens: [],
  variants: [],
  ...change,
})
const require = (...selectors: [string, unknown][]) => ({
  conditionType: 'require' as const,
  selectors: selectors.map(([selectorType, value]) => ({ selectorType, value })),
})
const upTo = (value: string) => require(['amount', { op: 'lte', value }])
const from = (value: string) => require(['amount', { op: 'gte', value }])
const asking = { ...policy, effect: 'requireApproval', approvalThreshold: 2 } as const
const askingOther = (threshold: number) => ({
  ...asking,
  approvers: [{ kind: 'group' as const, id: 'other', threshold }],
})
const withAlso = (first: number | null, second: number | null): RulesPolicy['approvers'] => [
  { kind: 'group', id: 'other', threshold: first },
  { kind: 'group', id: 'members', threshold: second },
]
const blocking = { ...policy, effect: 'block' } as const

type Case = [string, Partial<RulesPolicy> | null, Partial<RulesPolicy> | null]

test.each<Case>([
  ['a new block', null, blocking],
  ['an allow that goes', policy, null],
  ['an allow that is disabled', policy, { ...policy, enabled: false }],
  ['a new policy that is disabled', null, { ...policy, enabled: false }],
  ['another name', policy, { ...policy, name: 'Another' }],
  ['an allow that asks for votes from now on', policy, { ...policy, approvalThreshold: 1 }],
  ['more votes', asking, { ...asking, approvalThreshold: 3 }],
  ['no waiver for administrators', { ...asking, adminBypass: true }, asking],
  ['no vote of the initiator', { ...asking, allowInitiatorApproval: true }, asking],
  ['an allow that becomes a block', policy, blocking],
  [
    'a voter beside a group that must still give all votes',
    askingOther(2),
    { ...askingOther(2), approvers: withAlso(2, null) },
  ],
  ['a second group that must vote too', askingOther(2), { ...askingOther(2), approvers: withAlso(2, 1) }],
  [
    'the same with a further vote',
    askingOther(2),
    { ...askingOther(2), approvalThreshold: 3, approvers: withAlso(2, 1) },
  ],
  [
    'a second group beside the only one',
    { ...asking, approvers: [{ kind: 'group', id: 'other', threshold: null }] },
    { ...asking, approvers: withAlso(2, 1) },
  ],
  ['a block with fewer rules', { ...blocking, rules: [upTo('5')] }, blocking],
  ['a block of more amounts', { ...blocking, rules: [from('5')] }, { ...blocking, rules: [from('4.5')] }],
  [
    'a block of more tokens',
    { ...blocking, rules: [require(['token', 'ETH'])] },
    { ...blocking, rules: [require(['token', ['ETH', 'USDT']])] },
  ],
  [
    'a block with fewer selectors',
    { ...blocking, rules: [require(['amount', { op: 'gte', value: '5' }], ['token', 'ETH'])] },
    { ...blocking, rules: [from('5')] },
  ],
  ['an allow with more rules', policy, { ...policy, rules: [upTo('5')] }],
  ['a lower limit', { ...policy, rules: [upTo('5')] }, { ...policy, rules: [upTo('4.5')] }],
  [
    'fewer tokens',
    { ...policy, rules: [require(['token', ['ETH', 'USDT']])] },
    { ...policy, rules: [require(['token', 'ETH'])] },
  ],
  [
    'one more selector',
    { ...policy, rules: [upTo('5')] },
    { ...policy, rules: [require(['amount', { op: 'lte', value: '5' }], ['token', 'ETH'])] },
  ],
])('%s tightens', (_, before, after) => {
  expect(directionOf(...documents(before, after))).toBe('tightening')
})

test.each<Case>([
  ['a block of fewer amounts', { ...blocking, rules: [from('5')] }, { ...blocking, rules: [from('5.01')] }],
  [
    'a block of fewer tokens',
    { ...blocking, rules: [require(['token', ['ETH', 'USDT']])] },
    { ...blocking, rules: [require(['token', 'ETH'])] },
  ],
  [
    'a block outside of more tokens',
    { ...blocking, rules: [{ ...require(['token', 'ETH']), conditionType: 'exclude' }] },
    { ...blocking, rules: [{ ...require(['token', ['ETH', 'USDT']]), conditionType: 'exclude' }] },
  ],
  ['a new allow', null, policy],
  ['votes for what was denied', null, asking],
  ['a block that goes', blocking, null],
  ['a block that is disabled', blocking, { ...blocking, enabled: false }],
  ['votes that are no longer asked for', asking, null],
  ['fewer votes', asking, { ...asking, approvalThreshold: 1 }],
  ['a waiver for administrators', asking, { ...asking, adminBypass: true }],
  ['a vote of the initiator', asking, { ...asking, allowInitiatorApproval: true }],
  ['other voters', asking, { ...asking, approvers: [{ kind: 'user', id: 'm', threshold: null }] }],
  ['fewer votes of a group', askingOther(2), askingOther(1)],
  [
    'a second group whose votes may replace those of the first',
    askingOther(2),
    { ...asking, approvers: withAlso(1, 1) },
  ],
  [
    'another voter beside voters of whom any two suffice',
    { ...asking, approvers: withAlso(null, null) },
    { ...asking, approvers: [...withAlso(null, null), { kind: 'user', id: 'm', threshold: null }] },
  ],
  [
    'another group in place of the one that voted',
    askingOther(2),
    { ...asking, approvers: [{ kind: 'group', id: 'members', threshold: 2 }] },
  ],
  ['a block with more rules', blocking, { ...blocking, rules: [upTo('5')] }],
  ['a block that becomes votes', blocking, asking],
  ['votes on other amounts', { ...asking, rules: [upTo('5')] }, { ...asking, rules: [upTo('6')] }],
  ['an allow with fewer rules', { ...policy, rules: [upTo('5')] }, policy],
  ['a higher limit', { ...policy, rules: [upTo('5')] }, { ...policy, rules: [upTo('5.01')] }],
  [
    'a limit of another kind',
    { ...policy, rules: [upTo('5')] },
    { ...policy, rules: [require(['amount', { op: 'lt', value: '4' }])] },
  ],
  ['an allow for another action', policy, { ...policy, actionType: 'create_address' }],
  ['a block of another action', blocking, { ...blocking, actionType: 'create_address' }],
  ['an allow in doubt that becomes votes', { ...policy, approvalThreshold: 2 }, asking],
])('%s loosens', (_, before, after) => {
  expect(directionOf(...documents(before, after))).toBe('loosening')
})

function documents(before: Partial<RulesPolicy> | null, after: Partial<RulesPolicy> | null) {
  const of = (changed: Partial<RulesPolicy> | null) =>
    rules({ policies: changed === null ? [] : [{ ...policy, ...changed }] })
  return [of(before), of(after)] as const
}

test.each<[string, Partial<RulesPolicy>, Partial<RulesPolicy>, 'tightening' | 'loosening']>([
  [
    'on what already waits for votes',
    { ...asking, rules: [from('100')] },
    { ...asking, rules: [from('200')] },
    'tightening',
  ],
  ['on a part of what is allowed without a condition', policy, { ...asking, rules: [from('200')] }, 'tightening'],
  ['of another group than everyone and its own', { ...policy, groupId: 'other' }, asking, 'loosening'],
  ['of everyone', { ...policy, groupId: 'everyone' }, asking, 'tightening'],
  [
    'on more than what waits for votes',
    { ...asking, rules: [from('100')] },
    { ...asking, rules: [from('50')] },
    'loosening',
  ],
  // Where the amount is unknown, the allow permits nothing, and the new policy would let it wait for votes.
  [
    'on what is allowed up to a limit',
    { ...policy, rules: [upTo('100')] },
    { ...asking, rules: [upTo('50')] },
    'loosening',
  ],
  ['of another action', { ...policy, actionType: 'create_address' }, asking, 'loosening'],
  ['beside a policy that is disabled', { ...policy, enabled: false }, asking, 'loosening'],
])('a further policy that asks for votes %s', (_, known, added, direction) => {
  const groups = [...rules().groups, group('everyone', [], true)]
  const earlier = { ...policy, ...known }
  const policies = [earlier, { ...policy, ...added, id: 'p2', code: 'p2' }]
  expect(directionOf(rules({ groups, policies: [earlier] }), rules({ groups, policies }))).toBe(direction)
})

test('one person cannot rename a group', () => {
  const called = rules().groups.map((group) => (group.code === 'other' ? { ...group, name: 'Treasury' } : group))
  expect(directionOf(rules(), rules({ groups: called }))).toBe('loosening')
})

const membersWithout = (code: string, userId: string) =>
  rules().groups.map((group) =>
    group.code === code ? { ...group, members: group.members.filter((id) => id !== userId) } : group,
  )

test('leaving a group that only allows is a tightening; leaving one that decides or restricts is not', () => {
  const left = { groups: membersWithout('members', 'm') }
  expect(directionOf(rules(), rules(left))).toBe('tightening')
  expect(directionOf(rules({ policies: [policy] }), rules({ policies: [policy], ...left }))).toBe('tightening')
  for (const restricting of [
    blocking,
    asking,
    { ...policy, groupId: 'other', rules: [require(['initiatorGroup', 'members'])] },
  ]) {
    const policies = [restricting as RulesPolicy]
    expect(directionOf(rules({ policies }), rules({ policies, ...left }))).toBe('loosening')
  }
  // A user without a group has no access to the vault, so the block that restricted the user no longer counts.
  const gone = { groups: membersWithout('members', 'n'), policies: [blocking as RulesPolicy] }
  expect(directionOf(rules({ policies: [blocking as RulesPolicy] }), rules(gone))).toBe('tightening')
  expect(directionOf(rules(), rules({ groups: membersWithout('administrators', 'a') }))).toBe('loosening')
  const approverGroupId = 'members'
  const governance = { ...rules().governance, approverGroupId }
  expect(directionOf(rules({ governance }), rules({ governance, ...left }))).toBe('loosening')
  expect(directionOf(rules(left), rules())).toBe('loosening')
})

test('one administrator never changes governance, in any direction', () => {
  const { governance } = rules()
  const stricter = rules({ governance: { ...governance, threshold: 3 } })
  expect(directionOf(rules(), stricter)).toBe('tightening')
  expect(directionOf(stricter, rules())).toBe('loosening')
  expect(mayChangeAlone(rules(), stricter)).toBe(false)
  expect(mayChangeAlone(rules(), rules({ policies: [blocking as RulesPolicy] }))).toBe(true)
  const shorter = { ...governance, looseningDelayHours: 5 }
  expect(directionOf(rules({ governance: shorter }), rules())).toBe('loosening')
})

test('changes of the wallet service, tokens, variants, invitations and categories have a direction', () => {
  const token = { id: 't1', network: 'ethereum', code: 'ETH' }
  const variant = {
    id: 'v1',
    route: 'purpose',
    code: 'ops',
    pathId: 1,
    name: 'Operations',
    enabled: true,
    tokenId: null,
  }
  const invitation = { email: 'guest@example.org', groupIds: ['members'] }
  const category = {
    id: 'c1',
    key: 'invoice',
    approvalScope: 'edit' as const,
    approvalThreshold: 2,
    allowInitiatorApproval: false,
    approvers: [],
  }
  const parts: Partial<RulesDocument>[] = [
    { tokens: [token] },
    { variants: [variant] },
    { invitations: [invitation] },
    { wallet: { ...rules().wallet, url: 'https://other.example.org' } },
  ]
  for (const part of parts) expect(directionOf(rules(), rules(part))).toBe('loosening')
  for (const part of parts.slice(0, 3)) expect(directionOf(rules(part), rules())).toBe('tightening')
  const disabled = rules({ variants: [{ ...variant, enabled: false }] })
  expect(directionOf(rules({ variants: [variant] }), disabled)).toBe('tightening')
  expect(directionOf(disabled, rules({ variants: [variant] }))).toBe('loosening')
  expect(directionOf(rules(), rules({ categories: [category] }))).toBe('tightening')
  expect(directionOf(rules({ categories: [category] }), rules())).toBe('loosening')
  const stricter = { ...category, approvalThreshold: 3, approvalScope: 'assign_and_edit' as const }
  expect(directionOf(rules({ categories: [category] }), rules({ categories: [stricter] }))).toBe('tightening')
  expect(directionOf(rules({ categories: [stricter] }), rules({ categories: [category] }))).toBe('loosening')
})
