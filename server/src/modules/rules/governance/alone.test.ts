import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { outcomesOf, type Pick, picker, randomPolicy, strictness } from '../../../testing/rules-model.ts'
import type { RulesDocument } from '../rules-versions/document-schema.ts'
import { readRules } from '../rules-versions/rules-document.ts'

/**
 * One administrator of a vault with threshold 2, who also has a service token, sends random requests of every kind. According to
 * the pure evaluator, no request may let anybody do more than before.
 */
let bench: GovernanceBench
let alone: Person
let robot: Person
let created = 0

// With seed 1, the ten sequences would tighten nothing and prove nothing.
const { runs: sequences, seed: firstSeed } = campaignOf('GOVERNANCE', { runs: 10, seed: 74 })
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

/** Writes random rules as the owner of the database; they stand for rules that the administrators approved earlier. */
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

type Call = (pick: Pick, ids: { groups: string[]; policies: string[] }, by: Person) => Promise<Answer<unknown>>
const people = () => [bench.member, alone, ...bench.admins].map(({ userId }) => userId)

const calls: Call[] = [
  (pick, { groups }, by) =>
    by.post(`/policy-groups/${pick(groups)}/policies`, {
      ...randomPolicy(pick, groups),
      code: `made-${++created}`,
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
    by.post('/invitations', { email: `guest-${++created}@example.org`, groupIds: [pick(groups)] }),
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
      payload: { ...randomPolicy(pick, groups), code: `made-${++created}`, name: 'Made' },
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

it(`T74 no action of one administrator widens anybody’s rights, in ${sequences} sequences`, async () => {
  let tightened = 0
  for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
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
      if (isDeepStrictEqual(after, before)) continue
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
  // A run in which every call is refused would prove nothing.
  expect(tightened).toBeGreaterThan(0)
})
