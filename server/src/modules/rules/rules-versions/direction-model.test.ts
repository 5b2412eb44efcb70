import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { campaignOf } from '../../../testing/campaign.ts'
import { outcomesOf, type Pick, picker, randomPolicy, strictness } from '../../../testing/rules-model.ts'
import { mayChangeAlone } from './direction.ts'
import type { RulesDocument, RulesGroup, RulesPolicy } from './document-schema.ts'

/**
 * One administrator against the pure evaluator. A random change takes effect at once if `mayChangeAlone` permits it, as in
 * `govern`, and must not let anybody do more than before. `alone.test.ts` sends such changes to the service.
 */
const { runs: sequences, seed: firstSeed } = campaignOf('GOVERNANCE_MODEL', { runs: 200, seed: 1 })
const callsMax = 8
const people = ['alone', 'second', 'third', 'anna', 'ben', 'carla'] as const

let made = 0
function policyOf(pick: Pick, groups: RulesGroup[]): RulesPolicy {
  made += 1
  const ids = groups.map(({ id }) => id)
  return {
    ...{ id: `p${made}`, code: `p${made}`, name: 'Policy', description: null, blockReason: null },
    ...{ allowInitiatorApproval: pick([false, false, true]), groupId: pick(ids) },
    ...randomPolicy(pick, ids),
    approvers: pick([
      [],
      [],
      [{ kind: 'user', id: pick(people), threshold: null }],
      [{ kind: 'group', id: pick(ids), threshold: pick([null, 1, 2]) }],
    ]),
  }
}

function rulesOf(pick: Pick): RulesDocument {
  const group = (code: string, members: readonly string[], isSystem = false): RulesGroup => ({
    ...{ id: code, code, name: code, description: null },
    isSystem,
    members: [...members],
  })
  const some = () => people.filter(() => pick([true, false]))
  const groups = [
    group('administrators', ['alone', 'second', 'third'], true),
    group('everyone', [], true),
    group('one', some()),
    group('two', some()),
  ]
  return {
    schemaVersion: 1,
    governance: {
      threshold: 2,
      approverGroupId: pick([null, null, 'one']),
      looseningDelayHours: 0,
      tighteningDelayHours: 0,
    },
    groups,
    policies: Array.from({ length: 4 }, () => policyOf(pick, groups)),
    invitations: [],
    categories: [],
    wallet: { url: 'https://wallet.example.org', secretFingerprint: null, webhookSecretFingerprint: null },
    tokens: [],
    variants: [],
  }
}

type Change = (rules: RulesDocument, pick: Pick) => Partial<RulesDocument>

const changes: Change[] = [
  ({ policies, groups }, pick) => ({ policies: [...policies, policyOf(pick, groups)] }),
  ({ policies }, pick) => ({ policies: without(policies, pick(policies)) }),
  ({ policies, groups }, pick) => {
    const other = policyOf(pick, groups)
    const field = pick([
      'enabled',
      'rules',
      'approvalThreshold',
      'adminBypass',
      'effect',
      'approvers',
      'groupId',
    ] as const)
    return { policies: replaced(policies, pick(policies), pick([{ [field]: other[field] }, { ...other, id: '' }])) }
  },
  ({ groups }, pick) => {
    const group = pick(groups)
    const members = [...new Set([...group.members, pick(people)])].sort()
    return { groups: replaced(groups, group, { members }) }
  },
  ({ groups }, pick) => {
    const group = pick(groups)
    return { groups: replaced(groups, group, { members: without(group.members, pick(people)) }) }
  },
  ({ groups }, pick) => {
    const gone = pick(people)
    return { groups: groups.map((group) => ({ ...group, members: without(group.members, gone) })) }
  },
  ({ governance }, pick) => ({
    governance: {
      ...governance,
      ...pick([{ threshold: pick([0, 1, 2, 3]) }, { approverGroupId: pick([null, 'one', 'two']) }]),
    },
  }),
]

const without = <Item>(items: readonly Item[], gone: Item | undefined): Item[] => items.filter((item) => item !== gone)
const replaced = <Item extends { id: string }>(items: Item[], { id }: { id: string }, fields: Partial<Item>): Item[] =>
  items.map((item) => (item.id === id ? { ...item, ...fields, id } : item))

it(`T74 changes that one administrator may make alone widen no right, in ${sequences} sequences`, () => {
  let taken = 0
  let tightened = 0
  for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
    const pick = picker(seed)
    let rules = rulesOf(pick)
    let outcomes = outcomesOf(rules)
    for (let call = 0; call < callsMax; call += 1) {
      if (rules.policies.length === 0) break
      const after = { ...rules, ...pick(changes)(rules, pick) }
      if (isDeepStrictEqual(after, rules) || !mayChangeAlone(rules, after)) continue
      taken += 1
      expect(after.governance).toEqual(rules.governance)
      const now = outcomesOf(after)
      for (const [question, decision] of now) {
        const was = outcomes.get(question)
        if (strictness(decision) < strictness(was))
          expect.fail(`seed ${seed}, ${question}:\n${JSON.stringify({ rules, after, was, decision }, null, 1)}`)
        if (strictness(decision) > strictness(was)) tightened += 1
      }
      ;[rules, outcomes] = [after, now]
    }
  }
  // A run in which every change is refused would prove nothing.
  expect(taken).toBeGreaterThan(sequences / 4)
  expect(tightened).toBeGreaterThan(0)
})
