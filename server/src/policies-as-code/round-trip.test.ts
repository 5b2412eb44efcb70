import { expect, it } from 'vitest'
import type { Change } from '../modules/rules/change-sets/governed-actions.ts'
import { planChanges } from '../modules/rules/change-sets/plan-changes.ts'
import type {
  RulesCategory,
  RulesDocument,
  RulesPolicy,
  RulesVariant,
} from '../modules/rules/rules-versions/document-schema.ts'
import { campaignOf } from '../testing/campaign.ts'
import { createRandom } from '../testing/random.ts'
import type { Known } from './rules-file.ts'
import { toDocument } from './to-document.ts'
import { toFile } from './to-file.ts'
import { readRules, writeRules } from './yaml-text.ts'

/** The number of random organisations, and the seed of the first. */
const { runs, seed: firstSeed } = campaignOf('POLICY_FILE', { runs: 10, seed: 1 })

const texts = [
  ...['Treasury', 'null', 'yes', '~', '1e3', '0x10', '  padded', 'a: b', '# no comment', '- dash', '"quoted"', "it's"],
  ...[
    '[x]',
    '{x: y}',
    '&anchor',
    '*alias',
    '!tag',
    '%',
    '@at',
    '`',
    'Zürich – 東京',
    '2026-11-22',
    '12:30:45',
    '.5',
    '|',
    '>',
  ],
]
const codes = ['treasury', '123', 'null', 'true', '0x1f', '1e3', 'n', 'off', '007', 'night-shift', 'a_b']

type Choices = { pick<Item>(items: readonly Item[]): Item; some<Item>(items: readonly Item[]): Item[] }

function valuesOf({ pick, some }: Choices, userIds: string[], groupIds: string[]): Record<string, () => unknown> {
  return {
    amount: () => ({ op: 'gt', value: pick(['1', '1000', '0.10']) }),
    velocityAmount: () => ({ op: 'lte', value: '5', windowSeconds: 86_400, per: 'vault' }),
    token: () => pick(['ETH', ['ETH', 'null', '123']]),
    initiator: () => pick([pick(userIds), some(userIds)]),
    initiatorGroup: () => pick([pick(groupIds), [...some(groupIds), 'c123456789012345678901234']]),
    firstPaymentToDestination: () => pick([true, false]),
    time: () => ({ timezone: 'Europe/Berlin', days: ['mon', 'sun'], from: '08:00', to: '12:30' }),
  }
}

/** Categories, variants and tokens: two tokens share a code, one variant has a token that is no longer enabled. */
function structure(
  { pick, some }: Choices,
  { idOf, userIds, groupIds }: { idOf(kind: string, i: number): string; userIds: string[]; groupIds: string[] },
) {
  const tokens = ['ethereum ETH', 'ethereum USDC', 'polygon USDC'].map((name, i) => {
    const [network, code] = name.split(' ') as [string, string]
    return { id: idOf('tok', i), network, code }
  })
  const keys = ['cost_center', 'null', 'e', 'yes']
  const known = {
    categories: keys.map((key, i) => ({ id: idOf('cat', i), key })),
    routes: ['purpose', 'null'].map((code, i) => ({ id: idOf('rou', i), code, dynamic: false })),
  }
  const approvers = () =>
    pick([
      [],
      some(groupIds).map((id) => ({ kind: 'group' as const, id })),
      [{ kind: 'user' as const, id: pick(userIds) }],
    ])
  const categories = some(known.categories)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ id, key }) => ({
      ...{ id, key, approvalScope: pick(['edit', 'assign_and_edit'] as const), approvalThreshold: pick([1, 2]) },
      allowInitiatorApproval: pick([true, false]),
      approvers: approvers().toSorted((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1)),
    }))
  const variants = ['null', 'purpose'].flatMap((route) =>
    some(['Ops', '007', 'null', 'x.y']).map((code, i) => ({
      ...{ id: idOf(`var${route}`, i), route, code, pathId: i, name: pick(texts), enabled: pick([true, false]) },
      tokenId: pick([null, ...tokens.map(({ id }) => id), idOf('tok', 9)]),
    })),
  )
  return { known, tokens, categories, variants }
}

function organisation(seed: number): { document: RulesDocument; known: Known } {
  const { below, shuffle } = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!
  const some = <Item>(items: readonly Item[]): Item[] => shuffle([...items]).slice(0, below(items.length + 1))
  const maybe = <Value>(value: Value): Value | null => (below(2) === 0 ? value : null)
  const idOf = (kind: string, i: number) => `c${kind}${String(seed).padStart(10, '0')}${String(i).padStart(10, '0')}`
  const people = Array.from({ length: 6 }, (_, i) => ({
    userId: idOf('user', i),
    // A service may be called like a person.
    ...(i < 4
      ? { name: pick(texts), email: `person.${i}@example.org` }
      : { name: 'person.0@example.org', email: null }),
  }))
  const userIds = [...people.map(({ userId }) => userId), 'an-external-service', '4711', 'person.1@example.org']
  const system = ['administrators', 'auditors', 'everyone']
  const groups = [...system, ...some(codes)].toSorted().map((code, i) => ({
    ...{ id: idOf('grp', i), code, name: pick(texts), description: maybe(pick([...texts, ''])) },
    isSystem: system.includes(code),
    members: code === 'everyone' ? [] : some(userIds).toSorted(),
  }))
  const groupIds = groups.map(({ id }) => id)
  const values = valuesOf({ pick, some }, userIds, groupIds)
  const policies = some([...codes, 'large', 'small', 'halt'])
    .toSorted()
    .map((code, i): RulesPolicy => {
      const effect = pick(['allow', 'block', 'requireApproval'] as const)
      const approvalThreshold = effect === 'block' ? 0 : effect === 'allow' ? below(2) : 1 + below(3)
      const approvers =
        approvalThreshold === 0
          ? []
          : pick([
              [],
              some(groupIds).map((id) => ({ kind: 'group' as const, id, threshold: null })),
              [{ kind: 'group' as const, id: pick(groupIds), threshold: 1 }],
              userIds.map((id) => ({ kind: 'user' as const, id, threshold: null })),
            ])
      const selector = () => {
        const selectorType = pick(Object.keys(values))
        return { selectorType, value: values[selectorType]!() }
      }
      return {
        ...{ id: idOf('pol', i), groupId: pick(groupIds), code, name: pick(texts), description: maybe(pick(texts)) },
        ...{ actionType: 'transfer', effect, blockReason: effect === 'block' ? maybe(pick(texts)) : null },
        ...{
          approvalThreshold,
          adminBypass: below(2) === 0,
          allowInitiatorApproval: below(2) === 0,
          enabled: below(2) === 0,
        },
        rules: Array.from({ length: below(3) }, () => ({
          conditionType: pick(['require', 'any', 'exclude'] as const),
          selectors: Array.from({ length: 1 + below(2) }, selector),
        })),
        approvers: approvers.toSorted((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1)),
      }
    })
  const governance = {
    ...{ threshold: below(3), approverGroupId: maybe(pick(groupIds)) },
    ...{ looseningDelayHours: below(24), tighteningDelayHours: below(2) },
  }
  const wallet = { url: 'https://wallet.example.org', secretFingerprint: null, webhookSecretFingerprint: null }
  const { known, ...rest } = structure({ pick, some }, { idOf, userIds, groupIds })
  const others = { invitations: [], wallet, ...rest }
  return { document: { schemaVersion: 1, governance, groups, policies, ...others }, known: { people, ...known } }
}

it('the rules of every organisation are the same after they were exported and read again', () => {
  let other = ''
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const { document, known } = organisation(seed)
    const file = toFile('main-vault', document, known.people)
    const text = writeRules(file)
    const again = readRules(text)
    expect(again, text).toEqual(JSON.parse(JSON.stringify(file)))
    const wanted = toDocument(again, document, known)
    expect(wanted, text).toEqual(document)
    expect(planChanges(document, wanted)).toEqual([])
    // Written over its own file the text stays the same, and written over another file its rules stay the same.
    expect(writeRules(file, text)).toBe(text)
    if (other !== '') expect(readRules(writeRules(file, other)), other).toEqual(again)
    other = text
  }
})

/** Applies the changes of a plan to categories and variants as the service does. */
function applied(present: RulesDocument, changes: Change[], { categories: known, routes }: Known): RulesDocument {
  const none = { approvalScope: 'none', approvalThreshold: 0, allowInitiatorApproval: false, approvers: [] }
  const categories = new Map<string, object>(
    known.map((category) => [
      category.id,
      { ...category, ...none, ...present.categories.find(({ id }) => id === category.id) },
    ]),
  )
  const variants = new Map<string, object>(present.variants.map((variant) => [variant.id, variant]))
  for (const [i, { action, targetId, payload }] of changes.entries()) {
    const { token, id: pathId, ...fields } = payload as { token?: string | null; id?: number }
    const tokenId = present.tokens.find(({ code }) => code === token)?.id ?? null
    const settings = { ...fields, ...(token === undefined ? {} : { tokenId }) }
    if (action === 'category_update') categories.set(targetId!, { ...categories.get(targetId!)!, ...settings })
    else if (action === 'category_approvers_replace') {
      const approvers = (payload.approvers as { kind: string; userId?: string; groupId?: string }[]).map(
        ({ kind, userId, groupId }) => ({ kind, id: userId ?? groupId }),
      )
      categories.set(targetId!, { ...categories.get(targetId!)!, approvers })
    } else if (action === 'variant_update') variants.set(targetId!, { ...variants.get(targetId!)!, ...settings })
    else if (action === 'variant_add') {
      const { code: route } = routes.find(({ id }) => id === targetId)!
      variants.set(`added ${i}`, { tokenId: null, ...settings, id: `added ${i}`, route, pathId })
    } else throw new Error(`${action} is of another part`)
  }
  const listed = ([...categories.values()] as RulesCategory[]).filter(
    ({ approvalScope }) => String(approvalScope) !== 'none',
  )
  return { ...present, categories: listed, variants: [...variants.values()] as RulesVariant[] }
}

it('a plan turns the categories and variants of an organisation into those of another organisation', () => {
  let moved = 0
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const { document: present, known } = organisation(seed)
    const other = organisation(seed + runs).document
    const ids = new Map(known.categories.map(({ key, id }) => [key, id]))
    const [eth] = present.tokens
    const elsewhere: RulesDocument = {
      ...present,
      categories: other.categories.map((category) => ({ ...category, id: ids.get(category.key)!, approvers: [] })),
      variants: other.variants.map((variant) => {
        const was = present.variants.find(({ route, code }) => route === variant.route && code === variant.code)
        // A token that a file names by its id cannot change.
        const tokenId =
          variant.tokenId === other.tokens[0]!.id ? eth!.id : variant.tokenId === null ? null : (was?.tokenId ?? null)
        return { ...variant, tokenId, pathId: was?.pathId ?? 100 + variant.pathId }
      }),
    }
    const file = readRules(writeRules(toFile('main-vault', elsewhere, known.people)))
    const routeIds = new Map(known.routes.map(({ code, id }) => [code, id]))
    const changes = planChanges(present, toDocument(file, present, known), routeIds)
    const after = applied(present, changes, known)
    expect(planChanges(after, toDocument(file, after, known), routeIds), JSON.stringify(changes)).toEqual([])
    moved += changes.length
  }
  expect(moved).toBeGreaterThan(runs)
})

/** Later rules: objects are gone, made again or new, codes have passed from object to object, policies have moved to other groups. */
function laterRules({ groups, policies, ...rest }: RulesDocument, seed: number): RulesDocument {
  const { below, shuffle } = createRandom(seed)
  const changedOf = <Item extends { id: string; code: string }>(items: Item[]): Item[] => {
    const left = shuffle([...items]).slice(0, below(items.length + 1))
    const added = left.slice(0, 2).map((item) => ({ ...item, id: `new ${item.id}` }))
    const codesNow = shuffle([...items.map(({ code }) => code), 'spare-1', 'later'])
    const all = [...left, ...added]
    for (const [i, { code }] of all.entries()) {
      const at = codesNow.indexOf(code)
      if (below(2) === 0) [codesNow[at], codesNow[i]] = [codesNow[i]!, code]
    }
    return all.map((item, i) => ({ ...item, code: codesNow[i]! }))
  }
  const groupsNow = [
    ...groups.filter(({ isSystem }) => isSystem),
    ...changedOf(groups.filter(({ isSystem }) => !isSystem)),
  ]
  const anyGroup = () => groupsNow[below(groupsNow.length)]!.id
  const policiesNow = changedOf(policies).map((item) => (below(5) === 0 ? { ...item, groupId: anyGroup() } : item))
  const ids = groupsNow.map(({ id }) => id)
  const gone = groups.filter(({ id }) => !ids.includes(id)).map(({ id }) => [id, anyGroup()] as const)
  const again = [...groupsNow, ...policiesNow]
    .filter(() => below(4) === 0)
    .map(({ id }) => [id, `again ${id}`] as const)
  const text = JSON.stringify({ ...rest, groups: groupsNow, policies: policiesNow })
  return JSON.parse([...gone, ...again].reduce((now, [id, other]) => now.replaceAll(`"${id}"`, `"${other}"`), text))
}

/** Applies the changes of a plan to groups, policies and governance as the service does. Each code has one holder at every step. */
function appliedToRules(present: RulesDocument, changes: Change[]): RulesDocument {
  const results: string[] = []
  const groups = new Map(present.groups.map((group) => [group.id, group]))
  const policies = new Map(present.policies.map((policy) => [policy.id, policy]))
  let { governance } = present
  type Draft = { kind: 'user' | 'group'; userId?: string; groupId?: string; threshold?: number }
  const readPolicy = ({ approvers, ...fields }: { approvers?: Draft[] }) => {
    const read = ({ kind, userId, groupId, threshold }: Draft) => ({
      kind,
      id: (userId ?? groupId)!,
      threshold: threshold ?? null,
    })
    return { ...fields, ...(approvers === undefined ? {} : { approvers: approvers.map(read) }) }
  }
  for (const [i, change] of changes.entries()) {
    const text = JSON.stringify(change).replaceAll(/"\$change:(\d+)"/g, (_, at) => `"${results[Number(at)]}"`)
    const { action, targetId, payload } = JSON.parse(text) as Change & { payload: never }
    const id = targetId ?? ''
    results.push(`made ${i}`)
    if (action === 'policy_group_create')
      groups.set(`made ${i}`, { ...(payload as object), id: `made ${i}`, isSystem: false, members: [] } as never)
    else if (action === 'policy_group_update') groups.set(id, { ...groups.get(id)!, ...(payload as object) })
    else if (action === 'policy_group_delete') {
      expect([...policies.values()].filter(({ groupId }) => groupId === id)).toEqual([])
      expect(governance.approverGroupId).not.toBe(id)
      groups.delete(id)
    } else if (action === 'policy_group_member_add' || action === 'policy_group_member_remove') {
      const { userId } = payload as { userId: string }
      const others = groups.get(id)!.members.filter((memberId) => memberId !== userId)
      expect(others.length === groups.get(id)!.members.length).toBe(action === 'policy_group_member_add')
      groups.set(id, {
        ...groups.get(id)!,
        members: action === 'policy_group_member_add' ? [...others, userId] : others,
      })
    } else if (action === 'policy_create')
      policies.set(`made ${i}`, { ...readPolicy(payload), id: `made ${i}`, groupId: id } as RulesPolicy)
    else if (action === 'policy_update') policies.set(id, { ...policies.get(id)!, ...readPolicy(payload) })
    else if (action === 'policy_delete') policies.delete(id)
    else if (action === 'governance_update') governance = payload
    else throw new Error(`${action} is of another part`)
    for (const items of [groups, policies])
      expect(new Set([...items.values()].map(({ code }) => code)).size).toBe(items.size)
  }
  return { ...present, governance, groups: [...groups.values()], policies: [...policies.values()] }
}

/** The rules without the ids of their objects: groups are named by their codes, which are the same in equal rules. */
function withoutIds({ governance, groups, policies }: RulesDocument): unknown {
  const inOrder = <Item extends { code: string }>(items: Item[]) =>
    items.toSorted((item, other) => (item.code < other.code ? -1 : 1)).map((item) => ({ ...item, id: '' }))
  const named = { governance, groups: inOrder(groups), policies: inOrder(policies) }
  for (const group of named.groups) group.members = group.members.toSorted()
  const text = groups.reduce((now, { id, code }) => now.replaceAll(`"${id}"`, `"group ${code}"`), JSON.stringify(named))
  return JSON.parse(text)
}

it('a plan returns to the groups and policies of an earlier version, however codes have passed between objects since', () => {
  let moved = 0
  for (let seed = firstSeed; seed < firstSeed + 10 * runs; seed += 1) {
    const wanted = { ...organisation(seed).document, categories: [] }
    const present = laterRules(wanted, seed)
    const changes = planChanges(present, wanted)
    expect(withoutIds(appliedToRules(present, changes)), `seed ${seed}`).toEqual(withoutIds(wanted))
    moved += changes.length
  }
  expect(moved).toBeGreaterThan(100 * runs)
})

it('comments stay with their rules when rules are written over them', () => {
  const { document, known } = organisation(1)
  const policy = (code: string, approvalThreshold: number): RulesPolicy => ({
    ...{ id: `new policy ${code}`, groupId: document.groups[0]!.id, code, name: code, description: null },
    ...{ actionType: 'transfer', effect: 'requireApproval', blockReason: null, approvalThreshold, adminBypass: false },
    ...{ allowInitiatorApproval: false, enabled: true, approvers: [] },
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'gt', value: '1000' } }] }],
  })
  const fileOf = (policies: RulesPolicy[]) => toFile('main-vault', { ...document, policies }, known.people)
  const text = writeRules(fileOf([policy('large', 2), policy('old', 1)]))
    .replace('  - code: large', '  # Agreed with the board.\n  - code: large')
    .replace('approvalThreshold: 2', 'approvalThreshold: 2 # the board asked for two')
    .replace('- amount:', '# In tokens.\n          - amount:')
    .replace('  - code: old', '  # Goes with the policy.\n  - code: old')
  const written = writeRules(fileOf([policy('earlier', 1), policy('large', 3)]), text)
  expect(written).toContain('# Agreed with the board.\n  - code: large')
  expect(written).toContain('approvalThreshold: 3 # the board asked for two')
  expect(written).toMatch(/# In tokens\.\n +- amount:/)
  expect(written).not.toContain('Goes with the policy')
  expect(readRules(written)).toEqual(readRules(writeRules(fileOf([policy('earlier', 1), policy('large', 3)]))))
})

it.each([
  ['vault: [', /^line 1: /],
  ['policies: []', /^vault: is required/],
  ['vault: main-vault\npolicy: []', /^policy: /],
  ['vault: main-vault\nvault: other', /DUPLICATE_KEY/],
  [
    'vault: main-vault\npolicies:\n  - code: x\n    group: y\n    name: X\n    actionType: transfer\n    effect: maybe',
    /effect/,
  ],
])('an invalid file is refused: %j', (text, message) => {
  expect(() => readRules(text)).toThrow(message)
})

it('names every fault of a file by its path', () => {
  const { document, known } = organisation(1)
  const file = readRules(`
vault: main-vault
groups:
  - { code: night, name: Night, members: [nobody@example.org, person.0@example.org] }
policies:
  - code: large
    group: unknown
    name: Large
    actionType: transfer
    effect: requireApproval
    rules:
      - require: [{ amount: { op: gt, value: 1000 } }]
        any: [{ token: ETH }]
  - { code: large, group: night, name: Again, actionType: transfer, effect: allow }
categories:
  - { key: unknown, approvalScope: edit, approvalThreshold: 1, approvers: [{ group: nowhere }] }
variants:
  - { route: nowhere, code: a, pathId: 1, name: A, token: USDC }
  - { route: purpose, code: b, pathId: 90, name: B, token: { id: another } }
  - { route: purpose, code: b, pathId: 91, name: B, token: NONE }
`)
  const faults = (() => {
    try {
      toDocument(file, document, known)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  })()
  for (const path of [
    'groups.0.members.0',
    'policies.0.group',
    'policies.0.approvalThreshold',
    'policies.0.rules.0:',
    'policies.0.rules.0.selectors.0',
    'policies.1.code',
    'categories.0.key',
    'categories.0.approvers.0.group',
    'variants.0.route',
    'variants.0.token',
    'variants.1.token',
    'variants.2.token',
    'variants.2.code',
  ]) {
    expect(faults).toContain(path)
  }
  // The name of a service is not an e-mail address of a person.
  expect(
    toDocument(
      { vault: 'main-vault', groups: [{ code: 'night', name: 'N', members: ['person.0@example.org'] }] },
      document,
      known,
    ).groups.find(({ code }) => code === 'night')!.members,
  ).toEqual([known.people[0]!.userId])
})
