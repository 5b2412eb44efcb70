import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, ApprovalRequest } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  createPolicy,
  createVaultFixture,
  ensureGroup,
  type VaultFixture,
} from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
let clerk: Person
let approver: Person

const base = '/vaults/main-vault/counterparty-groups'
const counterparties = '/vaults/main-vault/counterparties'
const groupActions = ['group_create', 'group_update', 'group_archive', 'group_add', 'group_remove']

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  clerk = await addMember(test, vault, 'clerk@example.org', ['clerks'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  for (const verb of [...groupActions, 'create', 'archive']) {
    await createPolicy(vault, {
      groupId: await ensureGroup(vault, 'clerks'),
      code: `clerks-${verb.replace('_', '-')}`,
      name: 'Clerks keep the address book',
      actionType: `counterparty_${verb}`,
      effect: 'allow',
    })
  }
})
afterAll(() => test.close())

let made = 0
async function createGroup(body: Record<string, unknown> = {}) {
  made += 1
  const answer = await clerk.post(base, { code: `group-${made}`, name: `Group ${made}`, ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function createCounterparty(): Promise<string> {
  made += 1
  const answer = await clerk.post(counterparties, { name: `Supplier ${made}`, kind: 'company' })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

type Page<Item> = { items: Item[]; nextCursor: string | null }

const add = (groupId: string, counterpartyId: string, by = clerk) =>
  by.post(`${base}/${groupId}/members`, { counterpartyId })

async function audited(targetId: string): Promise<string[]> {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select('action')
    .where('target_id', '=', targetId)
    .where('action', 'like', 'counterparty_group.%')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ action }) => action)
}

describe('counterparty groups', () => {
  it('are created, read, changed and archived', async () => {
    const { status, body } = await clerk.post(base, {
      code: 'suppliers',
      name: 'Suppliers',
      description: 'Who delivers',
      avatarUri: 'https://example.org/s.png',
      color: '#1d4ed8',
      emoji: '🚚',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      vaultId: vault.id,
      code: 'suppliers',
      name: 'Suppliers',
      description: 'Who delivers',
      avatarUri: 'https://example.org/s.png',
      color: '#1d4ed8',
      emoji: '🚚',
      archivedAt: null,
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
      _count: { memberships: 0 },
    })
    expect((await approver.get(`${base}/${body.id}`)).body).toEqual(body)
    test.clock.advance(1000)
    const changed = await clerk.patch(`${base}/${body.id}`, { name: 'All suppliers', emoji: null })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({ ...body, name: 'All suppliers', emoji: null, updatedAt: changed.body.updatedAt })
    expect(changed.body.updatedAt > body.updatedAt).toBe(true)
    const archived = await clerk.post(`${base}/${body.id}/archive`)
    expect(archived.status).toBe(200)
    expect(archived.body.archivedAt).toBe(archived.body.updatedAt)
    expect((await approver.get(`${base}/${body.id}`)).body).toEqual(archived.body)
    expect(await audited(body.id)).toEqual([
      'counterparty_group.created',
      'counterparty_group.updated',
      'counterparty_group.archived',
    ])
  })

  it('hold counterparties', async () => {
    const group = await createGroup()
    const [first, second] = [await createCounterparty(), await createCounterparty()]
    const added = await add(group.id, first)
    expect(added.status).toBe(201)
    expect(added.body).toEqual({
      groupId: group.id,
      counterpartyId: first,
      createdAt: added.body.createdAt,
      counterparty: { id: first, name: added.body.counterparty.name, kind: 'company' },
    })
    test.clock.advance(1000)
    expect((await add(group.id, second)).status).toBe(201)
    const { body } = await approver.get(`${base}/${group.id}/members`)
    expect(body.items.map(({ counterpartyId }) => counterpartyId)).toEqual([second, first])
    expect((await approver.get(`${base}/${group.id}`)).body._count).toEqual({ memberships: 2 })
    expect((await clerk.delete(`${base}/${group.id}/members/${first}`)).status).toBe(204)
    expect((await clerk.delete(`${base}/${group.id}/members/${first}`)).status).toBe(404)
    expect((await approver.get(`${base}/${group.id}`)).body._count).toEqual({ memberships: 1 })
    expect(await audited(group.id)).toEqual([
      'counterparty_group.created',
      'counterparty_group.member_added',
      'counterparty_group.member_added',
      'counterparty_group.member_removed',
    ])
  })

  it('are listed by state, page by page, and so are their members', async () => {
    const group = await createGroup()
    const gone = await createGroup()
    await clerk.post(`${base}/${gone.id}/archive`)
    const walk = async <Item>(read: (query: string) => Promise<Answer<Page<Item>>>, idOf: (item: Item) => string) => {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const answer: Answer<Page<Item>> = await read(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
        expect(answer.status).toBe(200)
        seen.push(...answer.body.items.map(idOf))
        cursor = answer.body.nextCursor
      }
      return seen
    }
    const groupsBy = (filter: string) =>
      walk(
        (query) => approver.get(`${base}?${filter}${query}`),
        ({ id }) => id,
      )
    const all = await groupsBy('')
    const [live, archived] = [await groupsBy('archived=false&'), await groupsBy('archived=true&')]
    expect(live).toContain(group.id)
    expect(archived).toContain(gone.id)
    expect([...live, ...archived].sort()).toEqual([...all].sort())
    expect(live).not.toContain(gone.id)

    const members: string[] = []
    for (let i = 0; i < 5; i += 1) {
      members.push(await createCounterparty())
      expect((await add(group.id, members[i]!)).status).toBe(201)
    }
    const listed = await walk(
      (query) => approver.get(`${base}/${group.id}/members?${query}`),
      ({ counterpartyId }) => counterpartyId,
    )
    expect(listed).toEqual(members.toReversed())
  })
})

describe('refusals', () => {
  it('a code twice, also at once', async () => {
    const { code } = await createGroup()
    expect((await clerk.post(base, { code, name: 'x' })).status).toBe(409)
    const answers = await Promise.all([1, 2, 3, 4].map(() => clerk.post(base, { code: 'raced', name: 'x' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  it('a member twice, also at once', async () => {
    const [{ id }, member] = [await createGroup(), await createCounterparty()]
    const answers = await Promise.all([1, 2, 3, 4].map(() => add(id, member)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    expect((await add(id, member)).body.message).toBe('The counterparty is already in the group')
    expect((await clerk.get(`${base}/${id}`)).body._count.memberships).toBe(1)
  })

  it('wrong or unknown values', async () => {
    const { id } = await createGroup()
    const member = await createCounterparty()
    const field = ({ status, body }: Answer) => [status, body.details?.[0]?.field]
    expect(field(await clerk.post(base, { name: 'x' }))).toEqual([400, 'code'])
    expect(field(await clerk.post(base, { code: 'Not A Code', name: 'x' }))).toEqual([400, 'code'])
    expect(field(await clerk.patch(`${base}/${id}`, { code: 'renamed' }))).toEqual([400, 'code'])
    expect(field(await clerk.patch(`${base}/${id}`, { archivedAt: null }))).toEqual([400, 'archivedAt'])
    expect(field(await add(id, 'nobody'))).toEqual([400, 'counterpartyId'])
    expect(field(await clerk.get(`${base}?archived=maybe`))).toEqual([400, 'archived'])
    expect(field(await clerk.get(`${base}?status=live`))).toEqual([400, 'status'])
    for (const answer of [
      await clerk.get(`${base}/nothing`),
      await clerk.patch(`${base}/nothing`, { name: 'x' }),
      await clerk.post(`${base}/nothing/archive`),
      await clerk.get(`${base}/nothing/members`),
      await add('nothing', member),
      await clerk.delete(`${base}/nothing/members/${member}`),
      await clerk.delete(`${base}/${id}/members/${member}`),
      await clerk.delete(`${base}/${id}/members/nobody`),
    ]) {
      expect(answer.status).toBe(404)
    }
  })

  it('any change of an archived group, and an archived counterparty as a new member', async () => {
    const [group, live] = [await createGroup(), await createGroup()]
    const [member, late] = [await createCounterparty(), await createCounterparty()]
    await add(group.id, member)
    await add(live.id, member)
    await clerk.post(`${base}/${group.id}/archive`)
    for (const answer of [
      await clerk.patch(`${base}/${group.id}`, { name: 'x' }),
      await clerk.post(`${base}/${group.id}/archive`),
      await add(group.id, late),
      await clerk.delete(`${base}/${group.id}/members/${member}`),
    ]) {
      expect([answer.status, answer.body.message]).toEqual([409, 'The counterparty group is archived'])
    }
    expect((await clerk.get(`${base}/${group.id}`)).body._count.memberships).toBe(1)

    await clerk.post(`${counterparties}/${late}/archive`)
    expect((await add(live.id, late)).status).toBe(409)
    // An archived member may leave a group that is not archived.
    await clerk.post(`${counterparties}/${member}/archive`)
    expect((await clerk.delete(`${base}/${live.id}/members/${member}`)).status).toBe(204)
  })

  it('a counterparty that is archived at the same moment is a member only if it was one before', async () => {
    const { id } = await createGroup()
    for (let i = 0; i < 5; i += 1) {
      const member = await createCounterparty()
      const [archived, added] = await Promise.all([clerk.post(`${counterparties}/${member}/archive`), add(id, member)])
      expect(archived.status).toBe(200)
      expect([201, 409]).toContain(added.status)
      const { groups } = (await clerk.get(`${counterparties}/${member}`)).body
      expect(groups).toHaveLength(added.status === 201 ? 1 : 0)
      // The locks decide which request came first, not the clocks of the requests.
      expect((await add((await createGroup()).id, member)).status).toBe(409)
    }
  })
})

describe('policies', () => {
  it('deny actions that no policy allows, even to administrators', async () => {
    const [{ id }, member, other] = [await createGroup(), await createCounterparty(), await createCounterparty()]
    await add(id, member)
    for (const by of [approver, vault.admin]) {
      for (const answer of [
        await by.post(base, { code: 'denied', name: 'x' }),
        await by.patch(`${base}/${id}`, { name: 'x' }),
        await by.post(`${base}/${id}/archive`),
        await add(id, other, by),
        await by.delete(`${base}/${id}/members/${member}`),
      ]) {
        expect(answer.status).toBe(403)
      }
    }
    expect((await clerk.get(`${base}/${id}`)).body).toMatchObject({ archivedAt: null, _count: { memberships: 1 } })
  })

  it('see the changed group and the counterparty that is added to it', async () => {
    const [guarded, open] = [await createGroup(), await createGroup()]
    const person = await clerk.post(counterparties, { name: 'Somebody', kind: 'individual' })
    const company = await createCounterparty()
    await createPolicy(vault, {
      code: 'no-individuals-here',
      name: 'No individuals here',
      actionType: 'counterparty_group_add',
      effect: 'block',
      blockReason: 'Companies only',
      rules: [
        {
          conditionType: 'require',
          selectors: [
            { selectorType: 'counterpartyGroup', value: guarded.id },
            { selectorType: 'counterpartyKind', value: 'individual' },
          ],
        },
      ],
    })
    const refused = await add(guarded.id, person.body.id)
    expect([refused.status, refused.body.message]).toEqual([403, 'Companies only'])
    expect((await add(guarded.id, company)).status).toBe(201)
    expect((await add(open.id, person.body.id)).status).toBe(201)
  })

  it('that ask for a vote: members wait side by side, and a changed group outdates them (T38)', async () => {
    const requester = await addMember(test, vault, 'requester@example.org', ['requesters'])
    for (const verb of groupActions) {
      await createPolicy(vault, {
        groupId: await ensureGroup(vault, 'requesters'),
        code: `requesters-${verb.replace('_', '-')}`,
        name: 'Somebody else looks',
        actionType: `counterparty_${verb}`,
        effect: 'requireApproval',
        approvalThreshold: 1,
        approvers: [{ kind: 'group', groupId: await ensureGroup(vault, 'approvers') }],
      })
    }
    const approve = ({ status, body }: Answer<{ request: ApprovalRequest }>) => {
      expect(status, JSON.stringify(body)).toBe(202)
      return approver.post(`/vaults/main-vault/approval-requests/${body.request.id}/approve`)
    }
    const created = await approve(await requester.post(base, { code: 'voted', name: 'Voted' }))
    const id = created.body.resolvedResultId!
    const [first, second, third] = [await createCounterparty(), await createCounterparty(), await createCounterparty()]
    const answers = [await add(id, first, requester), await add(id, second, requester), await add(id, third, requester)]
    for (const request of answers.slice(0, 2)) expect((await approve(request)).status).toBe(200)
    expect((await approve(await requester.delete(`${base}/${id}/members/${first}`))).status).toBe(200)
    expect((await clerk.get(`${base}/${id}`)).body._count.memberships).toBe(1)

    const late = await createCounterparty()
    const tooLate = await add(id, late, requester)
    await clerk.post(`${counterparties}/${late}/archive`)
    expect((await approve(tooLate)).status).toBe(409)
    const failed = await requester.get(`/vaults/main-vault/approval-requests/${tooLate.body.request.id}`)
    expect(failed.body).toMatchObject({ status: 'failed', failureReason: 'The counterparty is archived' })

    expect((await approve(await requester.patch(`${base}/${id}`, { name: 'Changed' }))).status).toBe(200)
    expect((await approve(answers[2]!)).status).toBe(409)
    const stale = await requester.get(`/vaults/main-vault/approval-requests/${answers[2]!.body.request.id}`)
    expect(stale.body.status).toBe('stale')
    expect((await approve(await requester.post(`${base}/${id}/archive`))).status).toBe(200)
    expect((await clerk.get(`${base}/${id}`)).body.archivedAt).not.toBeNull()
  })
})

describe('T39 access', () => {
  it('is for members of the vault only, and reveals nothing about ids of other vaults', async () => {
    const [{ id }, member] = [await createGroup(), await createCounterparty()]
    await add(id, member)
    const other = await createVaultFixture(test, { code: 'other-vault', adminEmail: 'other@example.org' })
    for (const verb of groupActions) {
      await createPolicy(other, {
        code: verb.replace('_', '-'),
        name: verb,
        actionType: `counterparty_${verb}`,
        effect: 'allow',
      })
    }
    const calls = (
      client: Pick<Person, 'get' | 'post' | 'patch' | 'delete'>,
      url: `/vaults/${string}/counterparty-groups`,
    ) =>
      Promise.all([
        client.get(url),
        client.post(url, { code: 'mine', name: 'x' }),
        client.get(`${url}/${id}`),
        client.patch(`${url}/${id}`, { name: 'x' }),
        client.post(`${url}/${id}/archive`),
        client.get(`${url}/${id}/members`),
        client.post(`${url}/${id}/members`, { counterpartyId: member }),
        client.delete(`${url}/${id}/members/${member}`),
      ])
    const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status)
    expect(statuses(await calls(test.anonymous, base))).toEqual(Array(8).fill(401))
    expect(statuses(await calls(other.admin, base))).toEqual(Array(8).fill(403))
    const answersToAdmin = await calls(other.admin, '/vaults/other-vault/counterparty-groups')
    expect(statuses(answersToAdmin)).toEqual([200, 201, 404, 404, 404, 404, 404, 404])
    // A counterparty of another vault cannot be added to a group.
    const strange = await other.admin.post(
      `/vaults/other-vault/counterparty-groups/${answersToAdmin[1]!.body.id}/members`,
      {
        counterpartyId: member,
      },
    )
    expect([strange.status, strange.body.details[0]!.field]).toEqual([400, 'counterpartyId'])
    expect((await other.admin.get(`/vaults/other-vault/counterparties?groupId=${id}`)).body.items).toEqual([])
  })
})
