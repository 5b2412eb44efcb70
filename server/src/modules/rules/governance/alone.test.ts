import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Answer, Person } from '../../../testing/app.ts'
import { createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { createRandom } from '../../../testing/random.ts'
import { decideFrom } from '../policies/decide.ts'
import type { Decision, Facts, PolicySnapshot } from '../policies/decision.ts'
import { readRules } from './document.ts'
import type { RulesDocument } from './document-schema.ts'

/**
 * One administrator of a vault with threshold 2, with service tokens of their own, who sends whatever there is to send.
 * Judged by the pure evaluator, nobody may ever do more than before the call.
 */
let bench: GovernanceBench
let alone: Person
let robot: Person
let asked = 0

const sequences = Number(process.env.GOVERNANCE_RUNS ?? 50)
const callsMax = 6

beforeAll(async () => {
  bench = await createGovernanceBench()
  alone = bench.vault.admin
  const groupIds = [bench.vault.groups.administrators]
  const { body } = await alone.post(`${bench.url}/service-tokens`, { name: 'Robot', groupIds })
  robot = bench.test.client({ authorization: `Bearer ${body.token}` }) as Person
  for (const code of ['one', 'two']) {
    const group = await alone.post(`${bench.url}/policy-groups`, { code, name: code })
    for (const { userId } of [bench.member, alone]) {
      await alone.post(`/policy-groups/${group.body.id}/members`, { userId })
    }
  }
  expect((await bench.govern()).status).toBe(200)
})
afterAll(() => bench.close())

type Pick = ReturnType<typeof picker>

function picker(seed: number) {
  const random = createRandom(seed)
  return <Item>(items: readonly Item[]): Item => items[random.below(items.length)]!
}

function randomPolicy(pick: Pick, groupIds: string[]) {
  const effect = pick(['allow', 'block', 'requireApproval'] as const)
  const approvalThreshold = effect === 'block' ? 0 : effect === 'requireApproval' ? pick([1, 2]) : pick([0, 0, 1])
  const selectors = [
    { selectorType: 'amount', value: { op: pick(['lte', 'gt']), value: pick(['1', '10', '100']) } },
    { selectorType: 'token', value: pick([['ETH'], ['ETH', 'USDT']]) },
    { selectorType: 'initiatorGroup', value: [pick(groupIds)] },
  ]
  const rule = { conditionType: pick(['require', 'any', 'exclude']), selectors: [pick(selectors)] }
  return {
    actionType: pick(['transfer', 'transfer', 'create_address']),
    effect,
    approvalThreshold,
    adminBypass: pick([true, false]),
    enabled: pick([true, true, false]),
    rules: pick([
      [],
      [{ ...rule, selectors: [selectors[2]!] }],
      [{ ...rule, selectors: [pick(selectors.slice(0, 2))] }],
    ]),
  }
}

/** What the administrators agreed on before, written as the owner of the database. */
async function reset(pick: Pick, groupIds: string[]): Promise<void> {
  const policies = [0, 1, 2].map((i) => ({
    ...randomPolicy(pick, groupIds),
    code: `base-${i}`,
    groupId: pick(groupIds),
  }))
  const stored = policies.map((policy) => ({
    ...policy,
    rules: policy.rules.map(({ conditionType, selectors }) => ({
      id: newId(),
      conditionType,
      createdAt: new Date().toISOString(),
      selectors: selectors.map((selector) => ({ id: newId(), ...selector })),
    })),
  }))
  await bench.sql(`
    begin; set local session_replication_role = replica;
    delete from policies; delete from change_sets;
    insert into policies (vault_id, id, group_id, code, name, action_type, effect, approval_threshold, admin_bypass,
      allow_initiator_approval, enabled, rules, created_at, updated_at)
    select '${bench.vault.id}', 'c' || lpad(n::text, 24, '0'), p->>'groupId', p->>'code', p->>'code', p->>'actionType',
      p->>'effect', (p->>'approvalThreshold')::int, (p->>'adminBypass')::boolean, false, (p->>'enabled')::boolean,
      p->'rules',
      now(), now()
    from jsonb_array_elements('${JSON.stringify(stored)}') with ordinality x(p, n);
    commit`)
}

type Call = (pick: Pick, ids: { groups: string[]; policies: string[] }, by: Person) => Promise<Answer>
const people = () => [bench.member, alone, ...bench.admins].map(({ userId }) => userId)

const calls: Call[] = [
  (pick, { groups }, by) =>
    by.post(`/policy-groups/${pick(groups)}/policies`, {
      ...randomPolicy(pick, groups),
      code: `made-${++asked}`,
      name: 'Made',
    }),
  (pick, { groups, policies }, by) => {
    const whole = randomPolicy(pick, groups)
    const field = pick(['enabled', 'rules', 'approvalThreshold', 'adminBypass', 'effect'] as const)
    return by.patch(`/policies/${pick(policies)}`, pick([{ [field]: whole[field] }, whole]))
  },
  (pick, { policies }, by) => by.delete(`/policies/${pick(policies)}`),
  (pick, { groups }, by) => by.post(`/policy-groups/${pick(groups)}/members`, { userId: pick(people()) }),
  (pick, { groups }, by) => by.delete(`/policy-groups/${pick(groups)}/members/${pick(people())}`),
  (pick, _, by) => by.delete(`${bench.url}/members/${pick(people())}`),
  (pick, _, by) =>
    by.put(`${bench.url}/governance`, {
      threshold: pick([0, 1, 2, 3]),
      looseningDelayHours: pick([0, 1]),
      tighteningDelayHours: 0,
    }),
  (pick, { groups }, by) =>
    by.post('/invitations', { email: `guest-${++asked}@example.org`, groupIds: [pick(groups)] }),
  async (pick, { groups }, by) => {
    const answer = await by.post(`${bench.url}/service-tokens`, { name: 'Another', groupIds: [pick(groups)] })
    if (answer.status === 202) {
      const service = bench.test.client({ authorization: `Bearer ${answer.body.token}` })
      expect((await service.get('/vaults')).status).toBe(401)
    }
    return answer
  },
  async (pick, { groups }, by) => {
    const change = (targetId: string) => ({
      action: 'policy_create',
      targetId,
      payload: { ...randomPolicy(pick, groups), code: `made-${++asked}`, name: 'Made' },
    })
    const draft = await bench.draft([change(pick(groups)), change(pick(groups))], by)
    if (draft.status !== 201) return draft
    const submitted = await bench.submit(draft.body.id, by)
    if (submitted.status !== 202) return submitted
    const { id } = submitted.body.request
    await alone.post(`${bench.url}/approval-requests/${id}/approve`)
    await robot.post(`${bench.url}/approval-requests/${id}/approve`)
    return pick([0, 1]) === 0 ? submitted : alone.post(`${bench.url}/change-sets/${draft.body.id}/rebase`)
  },
  async () => {
    bench.test.clock.advance(1_000)
    await bench.applyDue()
    return alone.get(`${bench.url}/rules/versions`)
  },
]

const amounts = ['0.5', '5', '50', '500']
const actionTypes = ['transfer', 'create_address'] as const

/** What the rules decide for every member about some orders. */
function outcomesOf(rules: RulesDocument): Map<string, Decision> {
  const everyone = rules.groups.find(({ code }) => code === 'everyone')!.id
  const outcomes = new Map<string, Decision>()
  const members = new Set(rules.groups.flatMap((group) => group.members))
  for (const userId of members) {
    const groups = rules.groups.filter((group) => group.members.includes(userId))
    const initiatorGroupIds = [...groups.map(({ id }) => id), everyone]
    const isAdmin = groups.some(({ code }) => code === 'administrators')
    for (const actionType of actionTypes) {
      const candidates = rules.policies
        .filter((one) => one.enabled && one.actionType === actionType && initiatorGroupIds.includes(one.groupId))
        .map((one): PolicySnapshot => {
          const approvers = one.approvers.map(({ threshold, ...who }) =>
            threshold === null ? who : { ...who, threshold },
          )
          return {
            ...one,
            approvers,
            rules: one.rules.map((rule) => ({
              ...rule,
              id: '',
              createdAt: '',
              selectors: rule.selectors.map((selector) => ({ ...selector, id: '' })),
            })),
          }
        })
      for (const code of ['ETH', 'USDT', null]) {
        for (const amount of amounts) {
          const token = code === null ? {} : { token: { id: code, code }, amount }
          const facts: Facts = { now: new Date(0), initiatorId: userId, initiatorGroupIds, ...token }
          outcomes.set(`${userId} ${actionType} ${code} ${amount}`, decideFrom(candidates, facts, { isAdmin }))
        }
      }
    }
  }
  return outcomes
}

/** Block, deny, approval by more votes, approval, allow: higher is stricter. */
function strictness(decision: Decision | undefined): number {
  if (decision === undefined) return 2_000
  if (decision.effect === 'block') return 3_000
  if (decision.effect === 'deny') return 2_000
  const asked = decision.requirements.filter(({ bypassed }) => !bypassed).map(({ threshold }) => threshold)
  return decision.effect === 'allow' ? 0 : Math.max(0, ...asked)
}

it(`T74 nothing that one administrator does widens what anybody may do, in ${sequences} sequences`, async () => {
  let tightened = 0
  for (let seed = 1; seed <= sequences; seed += 1) {
    const pick = picker(seed)
    const { db } = bench.test.deps
    const ids = (rules: RulesDocument) => ({
      groups: rules.groups.map(({ id }) => id),
      policies: [...rules.policies.map(({ id }) => id), 'none'],
    })
    await reset(pick, ids(await readRules(db, bench.vault.id)).groups)
    let before = await readRules(db, bench.vault.id)
    let outcomes = outcomesOf(before)
    const log: string[] = []
    for (let call = 0; call < callsMax; call += 1) {
      const which = pick(calls)
      const answer = await which(pick, ids(before), pick([alone, alone, robot]))
      log.push(`${calls.indexOf(which)}: ${answer.status} ${JSON.stringify(answer.body)}`.slice(0, 300))
      expect(answer.status, log.join('\n')).toBeLessThan(500)
      const after = await readRules(db, bench.vault.id)
      const now = outcomesOf(after)
      for (const [question, decision] of now) {
        const was = strictness(outcomes.get(question))
        if (strictness(decision) < was) expect.fail(`seed ${seed}, ${question}:\n${log.join('\n')}`)
        if (strictness(decision) > was) tightened += 1
      }
      expect(after.governance).toEqual(before.governance)
      ;[before, outcomes] = [after, now]
    }
  }
  // The sequences did something: a run in which every call is refused would prove nothing.
  expect(tightened).toBeGreaterThan(0)
})
