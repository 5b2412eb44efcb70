import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnswerOf } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { addMember, allowAll, createPolicy, createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
let ann: Person
let bob: Person
beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  ann = await addMember(test, vault, 'ann@example.org', ['treasury', 'approvers'])
  bob = await addMember(test, vault, 'bob@example.org', ['treasury'])
})
afterAll(() => test.close())

describe('GET /vaults/{code}/members', () => {
  const url = '/vaults/main-vault/members'
  const membersOf = async (query = '') => (await ann.get(`${url}${query}`)).body.items
  const idsOf = async (query: string) => (await membersOf(query)).map(({ userId }) => userId)

  it('shows each member once, with their groups by name and whether they administer', async () => {
    await ann.patch('/users/me', { image: 'https://example.org/ann.png' })
    const { body } = await vault.admin.get('/vaults/main-vault/policy-groups?limit=100')
    const groupOf = (code: string) => {
      const { id, name } = body.items.find((group) => group.code === code)!
      return { id, name }
    }
    expect(await membersOf()).toEqual([
      {
        userId: bob.userId,
        kind: 'person',
        name: 'bob',
        image: null,
        email: 'bob@example.org',
        groups: [groupOf('treasury')],
        isAdmin: false,
        isAuditor: false,
        lastSeenAt: null,
      },
      {
        userId: ann.userId,
        kind: 'person',
        name: 'ann',
        image: 'https://example.org/ann.png',
        email: 'ann@example.org',
        groups: [groupOf('approvers'), groupOf('treasury')],
        isAdmin: false,
        isAuditor: false,
        lastSeenAt: null,
      },
      expect.objectContaining({
        userId: vault.admin.userId,
        isAdmin: true,
        groups: [groupOf('administrators')],
      }),
    ])
  })

  it('T40 tells when somebody was last seen to those who read the whole vault, and to no other member', async () => {
    const auditor = await addMember(test, vault, 'auditor@example.org', ['auditors'])
    const seenBy = async (by: Person) =>
      (await by.get(`${url}?search=bob`)).body.items.map(({ lastSeenAt }) => lastSeenAt)
    const isInstant = [expect.stringMatching(/Z$/)]
    expect([await seenBy(vault.admin), await seenBy(auditor)]).toEqual([isInstant, isInstant])
    expect([await seenBy(ann), await seenBy(bob)]).toEqual([[null], [null]])
    await test.deps.db.deleteFrom('policy_group_memberships').where('user_id', '=', auditor.userId).execute()
  })

  it('finds by a part of name, username and e-mail address, and treats wildcards as plain characters', async () => {
    await bob.patch('/users/me', { username: 'Harbour' })
    expect(await idsOf('?search=ANN')).toEqual([ann.userId])
    expect(await idsOf('?search=arbo')).toEqual([bob.userId])
    expect(await idsOf('?search=b@exam')).toEqual([bob.userId])
    for (const search of ['%25', '_', '%27%20or%20true', 'nobody']) expect(await idsOf(`?search=${search}`)).toEqual([])
  })

  it('lists services without an e-mail address, and omits disabled services and ids without a user', async () => {
    const groupId = vault.groups.administrators
    const create = async (name: string) =>
      (await vault.admin.post('/vaults/main-vault/service-tokens', { name, groupIds: [groupId] })).body
    const [kept, revoked] = [await create('Payroll'), await create('Old payroll')]
    await vault.admin.delete(`/vaults/main-vault/service-tokens/${revoked.id}`)
    await vault.admin.post(`/policy-groups/${groupId}/members`, { userId: 'machine-1' })
    expect(await membersOf('?kind=service')).toMatchObject([
      { userId: kept.userId, kind: 'service', name: 'Payroll', email: null, isAdmin: true, lastSeenAt: null },
    ])
    expect(await idsOf('?search=machine')).toEqual([])
    expect(await idsOf('?kind=person')).not.toContain(kept.userId)
  })

  it('comes in pages that neither omit nor repeat a person', async () => {
    const all = (await membersOf('?limit=100')).map(({ userId }) => userId)
    const seen: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: AnswerOf<'get', typeof url> = await ann.get(
        `${url}?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...body.items.map(({ userId }) => userId))
      cursor = body.nextCursor
    }
    expect(seen).toEqual(all)
  })

  it('is for members only', async () => {
    const stranger = await test.signIn('stranger@example.org')
    expect((await stranger.get(url)).status).toBe(403)
    expect((await test.anonymous.get(url)).status).toBe(401)
  })

  it('reads a page of a large vault by an index', async () => {
    const { db } = test.deps
    await sql`insert into users (id, name, email, created_at, updated_at)
      select 'c' || lpad(n::text, 24, '0'), 'Member ' || n, n || '@example.org', now(), now()
      from generate_series(1, 5000) n`.execute(db)
    await sql`insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
      select ${vault.id}, 'm' || n, ${vault.groups.administrators}, 'c' || lpad(n::text, 24, '0'), now()
      from generate_series(1, 5000) n`.execute(db)
    const last = `c${'4999'.padStart(24, '0')}`
    const plan = await sql<{ 'QUERY PLAN': string }>`explain
      select distinct user_id from policy_group_memberships where vault_id = ${vault.id} and user_id < ${last}
      order by user_id desc limit 21`.execute(db)
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('policy_group_memberships_member')
  })
})

describe('GET /vaults/{code}/me', () => {
  const url = '/vaults/main-vault/me'

  it('shows the groups and the role of the caller', async () => {
    const { body } = await ann.get(url)
    expect(body).toMatchObject({ userId: ann.userId, isAdmin: false })
    expect(body.groups.map(({ name }) => name)).toEqual(['approvers', 'treasury'])
    expect((await vault.admin.get(url)).body).toMatchObject({ isAdmin: true, groups: [{ name: 'Administrators' }] })
  })

  it('shows the decision of the policies on each action, which agrees with an order', async () => {
    const mayOf = async (person: Person) => (await person.get(url)).body.may
    expect(new Set(Object.values(await mayOf(ann)))).toEqual(new Set(['deny']))
    await allowAll(vault, 'counterparty_create')
    await createPolicy(vault, {
      code: 'addresses',
      name: 'Addresses',
      actionType: 'create_address',
      effect: 'block',
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'initiator', value: bob.userId }] }],
    })
    await allowAll(vault, 'create_address')
    await createPolicy(vault, {
      code: 'small',
      name: 'Small',
      actionType: 'transfer',
      effect: 'allow',
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'lt', value: '1' } }] }],
    })
    expect(await mayOf(ann)).toMatchObject({
      counterparty_create: 'allow',
      counterparty_archive: 'deny',
      create_address: 'allow',
      transfer: 'depends',
    })
    expect(await mayOf(bob)).toMatchObject({ counterparty_create: 'allow', create_address: 'deny' })
    const body = { network: 'ethereum', segments: { purpose: 'ops' } }
    expect((await bob.post('/vaults/main-vault/addresses', body)).status).toBe(403)
    expect((await ann.post('/vaults/main-vault/addresses', body)).status).toBe(201)
  })

  it('is for members only', async () => {
    const stranger = await test.signIn('passer-by@example.org')
    expect((await stranger.get(url)).status).toBe(403)
  })
})

describe('the profile beside an id', () => {
  it('stands beside members of groups and approvers, and is null for an id without a user', async () => {
    const { admin } = vault
    await ann.patch('/users/me', { name: 'Ann Example', image: null })
    const profile = { userId: ann.userId, kind: 'person', name: 'Ann Example', image: null }
    const { body: group } = await admin.post('/vaults/main-vault/policy-groups', { code: 'profiled', name: 'Profiled' })
    const members = `/policy-groups/${group.id}/members` as const
    expect((await admin.post(members, { userId: ann.userId })).body.user).toEqual(profile)
    expect((await admin.post(members, { userId: 'machine-2' })).body.user).toBeNull()
    const { memberships } = (await bob.get(`/policy-groups/${group.id}`)).body
    expect(memberships.map(({ user }) => user)).toEqual([profile, null])
    const approvers = [
      { kind: 'user', userId: ann.userId },
      { kind: 'group', groupId: group.id },
    ]
    const policy = await createPolicy(vault, {
      code: 'profiled',
      name: 'Profiled',
      actionType: 'counterparty_archive',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers,
    })
    const { body } = await bob.get(`/policies/${policy.id}`)
    expect(body.approvers.map(({ user }) => user)).toEqual([profile, null])
    const categories = '/vaults/main-vault/operation-categories'
    const { body: category } = await admin.post(categories, { key: 'profiled', name: 'Profiled' })
    const named = await admin.put(`${categories}/${category.id}/approvers`, { approvers })
    expect(named.status, JSON.stringify(named.body)).toBe(200)
    const found = (await bob.get(`${categories}/${category.id}`)).body.approvers
    expect(found).toHaveLength(2)
    expect(found).toEqual(
      expect.arrayContaining([expect.objectContaining({ user: profile }), expect.objectContaining({ user: null })]),
    )
    expect(JSON.stringify([memberships, body, found])).not.toContain('ann@example.org')
  })
})
