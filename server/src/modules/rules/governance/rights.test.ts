import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { rightOf } from '../decisions/action-rights.ts'

/** One administrator of a vault with governance, who wants nobody to be able to stop them. */
let bench: GovernanceBench
let alone: Person
let guard: Person
let guardsId: string
let policyId: string

const guarding = { code: 'guards', name: 'Guards may hold', actionType: 'hold_place', effect: 'allow' }

beforeAll(async () => {
  bench = await createGovernanceBench()
  alone = bench.vault.admin
  guard = await addMember(bench.test, bench.vault, 'guard@example.org', ['guards'])
  guardsId = await ensureGroup(bench.vault, 'guards')
  policyId = (await alone.post(`/policy-groups/${guardsId}/policies`, guarding)).body.id
  expect((await bench.govern()).status).toBe(200)
})
afterAll(() => bench.close())

let count = 0
const policy = (actionType: string, fields: object = {}) => {
  count += 1
  return { code: `made-${count}`, name: 'Made', actionType, effect: 'block', ...fields }
}

const holdVault = () =>
  guard.post(`${bench.url}/holds`, { subjectType: 'vault', subjectId: bench.vault.id, reason: 'Stop' })

describe('T74 a right to protect is neither taken nor given by one administrator', () => {
  const everyone = () => bench.vault.groups.everyone
  const attacks: [name: string, send: () => Promise<{ status: number }>][] = [
    ['a block for everyone', () => alone.post(`/policy-groups/${everyone()}/policies`, policy('hold_place'))],
    ['a block for the guards', () => alone.post(`/policy-groups/${guardsId}/policies`, policy('hold_place'))],
    ['the deletion of the policy', () => alone.delete(`/policies/${policyId}`)],
    ['the policy disabled', () => alone.patch(`/policies/${policyId}`, { enabled: false })],
    ['the policy made a block', () => alone.patch(`/policies/${policyId}`, { effect: 'block' })],
    ['votes that a hold does not wait for', () => alone.patch(`/policies/${policyId}`, { approvalThreshold: 1 })],
    [
      'a rule that never holds',
      () =>
        alone.patch(`/policies/${policyId}`, {
          rules: [{ conditionType: 'require', selectors: [{ selectorType: 'initiatorKind', value: ['service'] }] }],
        }),
    ],
    ['the guard taken out of the group', () => alone.delete(`/policy-groups/${guardsId}/members/${guard.userId}`)],
    ['the guard taken out of the vault', () => alone.delete(`${bench.url}/members/${guard.userId}`)],
    ['an accomplice in the group', () => alone.post(`/policy-groups/${guardsId}/members`, { userId: alone.userId })],
    [
      'an allow for everyone',
      () => alone.post(`/policy-groups/${everyone()}/policies`, policy('hold_place', { effect: 'allow' })),
    ],
  ]

  beforeEach(async () => {
    await bench.sql('delete from holds where vault_id = $1', [bench.vault.id])
  })

  test.each(attacks)('%s waits for votes, and the guard can hold', async (_, send) => {
    expect((await send()).status).toBe(202)
    expect((await holdVault()).status).toBe(201)
  })

  test('another name of the policy takes nothing away, and needs no votes', async () => {
    expect((await alone.patch(`/policies/${policyId}`, { name: 'Guards' })).status).toBe(200)
  })
})

describe('T74 the direction of a new block follows from the table of rights', () => {
  test.each(Object.entries(rightOf))('%s: %s', async (actionType, right) => {
    const answer = await alone.post(`/policy-groups/${bench.membersId}/policies`, policy(actionType))
    expect(answer.status).toBe(right === 'protects' ? 202 : 201)
  })
})

test('one administrator does not remove a guard whose right is a right of everyone', async () => {
  const other = await createGovernanceBench()
  try {
    const { url, vault, member } = other
    await vault.admin.post(`/policy-groups/${vault.groups.everyone}/policies`, guarding)
    await other.govern()
    expect((await vault.admin.delete(`${url}/members/${member.userId}`)).status).toBe(202)
  } finally {
    await other.close()
  }
})

test('one administrator does not remove a voter of a policy of everyone', async () => {
  const other = await createGovernanceBench()
  try {
    const { url, vault, member } = other
    const asking = policy('transfer', { effect: 'requireApproval', approvalThreshold: 1 })
    expect((await vault.admin.post(`/policy-groups/${vault.groups.everyone}/policies`, asking)).status).toBe(201)
    await other.govern()
    expect((await vault.admin.delete(`${url}/members/${member.userId}`)).status).toBe(202)
  } finally {
    await other.close()
  }
})

test('one administrator does not take a voter whom a policy names out of another group', async () => {
  const other = await createGovernanceBench()
  try {
    const { vault, member, membersId } = other
    const approvers = [{ kind: 'user', userId: member.userId }]
    const asking = policy('transfer', { effect: 'requireApproval', approvalThreshold: 1, approvers })
    const administrators = vault.groups.administrators
    expect((await vault.admin.post(`/policy-groups/${administrators}/policies`, asking)).status).toBe(201)
    await other.govern()
    expect((await vault.admin.delete(`/policy-groups/${membersId}/members/${member.userId}`)).status).toBe(202)
  } finally {
    await other.close()
  }
})
