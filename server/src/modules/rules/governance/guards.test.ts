import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'

/** Guards of the votes on rules. For each guard, a test here fails without it. */
let bench: GovernanceBench
let admin: Person

const hour = 3_600_000

beforeEach(async () => {
  bench = await createGovernanceBench()
  admin = bench.vault.admin
})
afterEach(() => bench.close())

const add = () => ({ action: 'policy_create', targetId: bench.membersId, payload: allowTransfers })

async function submit(changes: Parameters<GovernanceBench['draft']>[0], by = admin) {
  const draft = await bench.draft(changes, by)
  expect([draft.status, draft.body.message]).toEqual([201, undefined])
  const response = await bench.submit(draft.body.id, by)
  expect(response.status).toBe(202)
  return { id: draft.body.id, requestId: response.body.request.id }
}

async function approveBy(requestId: string, ...voters: Person[]) {
  for (const voter of voters) expect((await bench.approve(voter, requestId)).status).toBe(200)
}

async function applyLater() {
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
}

describe('T74 a change of approvers is not a tightening', () => {
  test('T74 named approvers in place of groups wait for votes', async () => {
    const [groupOne, groupTwo] = [await ensureGroup(bench.vault, 'one'), await ensureGroup(bench.vault, 'two')]
    const [first, second] = [
      await addMember(bench.test, bench.vault, 'first.voter@example.org', ['one']),
      await addMember(bench.test, bench.vault, 'second.voter@example.org', ['two']),
    ]
    const made = await admin.post(`/policy-groups/${bench.membersId}/policies`, {
      ...{ code: 'both-groups', name: 'Both groups', actionType: 'transfer', effect: 'requireApproval' },
      approvalThreshold: 2,
      approvers: [groupOne, groupTwo].map((groupId) => ({ kind: 'group', groupId, threshold: 1 })),
    })
    expect([made.status, made.body.message]).toEqual([201, undefined])
    await bench.govern()
    const named = [first, second].map(({ userId }) => ({ kind: 'user', userId }))
    for (const approvers of [
      named,
      [...named, { kind: 'user', userId: admin.userId }],
      [{ kind: 'group', groupId: groupOne, threshold: 1 }, ...named],
      [{ kind: 'group', groupId: groupOne, threshold: 2 }],
    ]) {
      const answer = await admin.patch(`/policies/${made.body.id}`, { approvers, approvalThreshold: 3 })
      expect([400, 202], JSON.stringify(answer.body)).toContain(answer.status)
    }
    expect((await admin.patch(`/policies/${made.body.id}`, { approvers: named })).status).toBe(202)
    const { body } = await admin.get(`/policies/${made.body.id}`)
    expect(body.approvers.map(({ kind }) => kind)).toEqual(['group', 'group'])
  })

  test('T74 other approvers of a category wait for votes', async () => {
    const category = await admin.post(`${bench.url}/operation-categories`, {
      ...{ key: 'invoice', name: 'Invoice', approvalScope: 'assign_and_edit', approvalThreshold: 1 },
    })
    expect([category.status, category.body.message]).toEqual([201, undefined])
    const approvers = `${bench.url}/operation-categories/${category.body.id}/approvers` as const
    const by = (person: Person) => ({ approvers: [{ kind: 'user', userId: person.userId }] })
    expect((await admin.put(approvers, by(bench.admins[1]!))).status).toBe(200)
    await bench.govern()
    for (const other of [by(bench.member), { approvers: [...by(bench.admins[1]!).approvers, ...by(admin).approvers] }])
      expect((await admin.put(approvers, other)).status).toBe(202)
    const { body } = await admin.get(`${bench.url}/operation-categories/${category.body.id}`)
    expect(body.approvers!.map(({ userId }) => userId)).toEqual([bench.admins[1]!.userId])
  })
})

describe('T74 when the time of a change has come', () => {
  test('T74 it is not applied to rules other than those of the votes', async () => {
    await bench.govern({ looseningDelayHours: 2 })
    const { id, requestId } = await submit([add()])
    await approveBy(requestId, bench.admins[1]!, bench.admins[2]!)
    expect(await bench.changeSet(id)).toMatchObject({ status: 'scheduled' })
    // As if another version had been published without ending the scheduled change sets.
    await bench.sql('update change_sets set base_version = base_version - 1 where id = $1', [id])
    await applyLater()
    expect(await bench.changeSet(id)).toMatchObject({ status: 'stale', appliedVersion: null })
    expect((await admin.get(`${bench.url}/policies`)).body.items).toEqual([])
  })

  test('T74 a change that a service requested still needs one more vote', async () => {
    const groupIds = [bench.vault.groups.administrators]
    const { body } = await admin.post(`${bench.url}/service-tokens`, { name: 'Robot', groupIds })
    const robot = bench.test.client({ authorization: `Bearer ${body.token}` }) as Person
    await bench.govern({ threshold: 1, looseningDelayHours: 2 })
    const { id, requestId } = await submit([add()], robot)
    await approveBy(requestId, bench.admins[1]!, bench.admins[2]!)
    expect(await bench.changeSet(id)).toMatchObject({ status: 'scheduled' })
    await bench.sql('update users set disabled_at = now() where id = $1', [bench.admins[2]!.userId])
    await applyLater()
    expect(await bench.changeSet(id)).toMatchObject({
      status: 'failed',
      failureReason: 'Only 1 of the 2 votes still count',
    })
  })
})

describe('T74 a change that leaves too few voters', () => {
  const removal = () => ({
    action: 'policy_group_member_remove',
    targetId: bench.vault.groups.administrators,
    payload: { userId: bench.admins[3]!.userId },
  })
  const unreachable = [409, 'quorum_unreachable']

  test('T74 is refused by its endpoint, in a draft, and before governance is switched on', async () => {
    const on = await bench.govern({ threshold: 4 })
    expect([on.status, on.body.reason]).toEqual(unreachable)
    await bench.govern({ threshold: 3 })
    const direct = await admin.delete(
      `/policy-groups/${bench.vault.groups.administrators}/members/${bench.admins[3]!.userId}`,
    )
    expect([direct.status, direct.body.reason]).toEqual(unreachable)
    const draft = await bench.draft([removal()])
    expect([draft.status, draft.body.reason]).toEqual(unreachable)
  })

  test('T74 is refused by its last vote, when fewer are left by then', async () => {
    await bench.govern({ threshold: 2 })
    const { id, requestId } = await submit([removal()])
    await approveBy(requestId, bench.admins[3]!)
    // Of the three administrators who would remain, two can vote.
    await bench.sql('update users set disabled_at = now() where id = $1', [bench.member.userId])
    await bench.sql(
      `insert into holds (vault_id, id, subject_type, subject_id, reason, placed_by_id, created_at)
        values ($1, 'c' || repeat('7', 24), 'user', $2, 'Mine', $3, now())`,
      [bench.vault.id, bench.admins[2]!.userId, admin.userId],
    )
    const last = await bench.approve(bench.admins[1]!, requestId)
    expect([last.status, last.body.reason]).toEqual([409, 'not_applied'])
    expect(await bench.changeSet(id)).not.toMatchObject({ status: 'applied' })
    const members = await bench.sql('select user_id from policy_group_memberships where group_id = $1', [
      bench.vault.groups.administrators,
    ])
    expect(members).toHaveLength(4)
  })
})

describe('T74 auditors', () => {
  const boardOf = async (...emails: string[]) => {
    const board = await ensureGroup(bench.vault, 'board')
    const people = []
    for (const email of emails) people.push(await addMember(bench.test, bench.vault, email, ['board']))
    return { board, people }
  }
  const makeAuditor = (userId: string) =>
    bench.sql(
      `begin; set local session_replication_role = replica;
        insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
        select vault_id, 'c' || repeat('8', 24), id, '${userId}', now() from policy_groups
        where vault_id = '${bench.vault.id}' and is_system and code = 'auditors';
        commit`,
    )

  test('T74 do not count for a quorum', async () => {
    const { board, people } = await boardOf('first@board.example.org', 'second@board.example.org')
    await makeAuditor(people[1]!.userId)
    const response = await bench.govern({ threshold: 1, approverGroupId: board })
    expect([response.status, response.body.reason]).toEqual([409, 'quorum_unreachable'])
  })

  test('T74 have no vote any more when the time of a change has come', async () => {
    const emails = ['first', 'second', 'third'].map((name) => `${name}@board.example.org`)
    const { board, people } = await boardOf(...emails)
    await bench.govern({ threshold: 2, approverGroupId: board, looseningDelayHours: 2 })
    const { id, requestId } = await submit([add()])
    await approveBy(requestId, people[0]!, people[1]!)
    expect(await bench.changeSet(id)).toMatchObject({ status: 'scheduled' })
    await makeAuditor(people[1]!.userId)
    await applyLater()
    expect(await bench.changeSet(id)).toMatchObject({
      status: 'failed',
      failureReason: 'Only 1 of the 2 votes still count',
    })
  })
})
