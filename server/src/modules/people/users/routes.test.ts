import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import type { AnswerOf } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { addMember, createVaultFixture } from '../../../testing/fixtures.ts'
import { addPlatformAdmin, ensureUser } from './actions.ts'
import { UpdateProfile } from './schema.ts'

let test: TestApp
let first: Person
let second: Person
beforeAll(async () => {
  test = await createTestApp()
  first = await test.signIn('first.person@example.org')
  second = await test.signIn('second.person@example.org')
})
afterAll(() => test.close())

describe('PATCH /users/me', () => {
  it('changes the fields of the body, clears a field with null and leaves other fields', async () => {
    const set = await first.patch('/users/me', {
      name: 'First person',
      username: 'First.P',
      image: 'https://example.org/first.png',
      color: '#1d4ed8',
      emoji: '🦉',
    })
    expect(set.status).toBe(200)
    expect(set.body).toEqual({
      id: first.userId,
      name: 'First person',
      email: 'first.person@example.org',
      username: 'First.P',
      image: 'https://example.org/first.png',
      color: '#1d4ed8',
      emoji: '🦉',
      notifications: { approvals: true, decisions: true },
    })
    expect((await first.get('/users/me')).body).toEqual(set.body)
    const cleared = await first.patch('/users/me', { emoji: null, image: null })
    expect(cleared.body).toEqual({ ...set.body, emoji: null, image: null })
    const session = await first.get('/auth/session')
    const { notifications: _, ...profile } = cleared.body
    expect(session.body.user).toEqual(profile)
  })

  it('answers an empty change with the profile as it is', async () => {
    const answer = await second.patch('/users/me', {})
    expect(answer.body).toMatchObject({ id: second.userId, name: 'second.person', username: null })
  })

  it('refuses a username that is taken, in any case', async () => {
    const answer = await second.patch('/users/me', { username: 'first.p' })
    expect(answer.status).toBe(409)
    expect((await first.patch('/users/me', { username: 'FIRST.P' })).status).toBe(200)
  })

  it.each([
    ['username', 'a b'],
    ['username', ''],
    ['color', 'red'],
    ['image', 'javascript:alert(1)'],
    ['name', '   '],
    ['name', 7],
  ])('names the field %s for the value %j', async (field, value) => {
    const answer = await first.patch('/users/me', { [field]: value })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })

  it.each(['isPlatformAdmin', 'is_platform_admin', 'email', 'id', 'kind'])('T41 does not accept %s', async (field) => {
    const answer = await first.patch('/users/me', { [field]: true })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })

  it('needs a session', async () => {
    expect((await test.anonymous.patch('/users/me', { name: 'Nobody' })).status).toBe(401)
  })
})

describe('GET /users/me', () => {
  it('shows every field that PATCH sets, as it is now', async () => {
    const shown = await second.get('/users/me')
    expect(shown.status).toBe(200)
    const { email, id, ...settable } = shown.body
    expect([email, id]).toEqual([second.email, second.userId])
    expect(Object.keys(settable).sort()).toEqual(Object.keys(UpdateProfile.properties).sort())
    await second.patch('/users/me', { notifications: { decisions: false }, color: '#abc' })
    const expected = { ...shown.body, color: '#abc', notifications: { approvals: true, decisions: false } }
    expect((await second.get('/users/me')).body).toEqual(expected)
    await second.patch('/users/me', { notifications: { decisions: true }, color: null })
  })

  it('needs a session', async () => {
    expect((await test.anonymous.get('/users/me')).status).toBe(401)
  })
})

describe('people', () => {
  it('are unique by e-mail address in any case, even if several requests create them at once', async () => {
    const now = test.clock.now()
    const people = await Promise.all(
      ['New@Example.org', 'new@example.org', 'NEW@EXAMPLE.ORG'].map((email) =>
        inTransaction(test.deps.db, (trx) => ensureUser(trx, email, now)),
      ),
    )
    expect(new Set(people.map((person) => person.id)).size).toBe(1)
    expect(people[0]).toMatchObject({ email: 'new@example.org', name: 'new' })
  })

  it('become platform administrators once, with one audit record', async () => {
    const now = test.clock.now()
    const add = () => inTransaction(test.deps.db, (trx) => addPlatformAdmin(trx, 'Second.Person@example.org', now))
    expect(await add()).toEqual({ userId: second.userId })
    await add()
    expect((await second.get('/auth/session')).body.isPlatformAdmin).toBe(true)
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select(['chain', 'action'])
      .where('target_id', '=', second.userId)
      .execute()
    expect(records).toEqual([{ chain: 'platform', action: 'platform_admin.added' }])
  })
})

describe('preferences', () => {
  const url = '/users/me/preferences'

  it('are an empty object at first, and are replaced as a whole', async () => {
    expect((await first.get(url)).body).toEqual({})
    const views = {
      views: [{ name: 'Große Zahlungen', filter: { minimum: '1e3' } }],
      theme: 'dark',
      odd: 'a\u0000b\ud800',
    }
    expect((await first.put(url, views)).status).toBeLessThan(500)
    const plain = { views: views.views, theme: 'dark', deep: [[{ a: null }]] }
    const put = await first.put(url, plain)
    expect([put.status, put.body]).toEqual([200, plain])
    expect((await first.get(url)).body).toEqual(plain)
    expect((await first.put(url, { theme: 'light' })).status).toBe(200)
    expect((await first.get(url)).body).toEqual({ theme: 'light' })
  })

  it('are separate for each person', async () => {
    expect((await second.get(url)).body).toEqual({})
    expect((await test.anonymous.get(url)).status).toBe(401)
  })

  it('are an object of at most 32 kB', async () => {
    const fitting = { text: 'x'.repeat(32_768 - '{"text":""}'.length) }
    expect((await second.put(url, fitting)).status).toBe(200)
    const tooLarge = await second.put(url, { text: `${fitting.text}x` })
    expect([tooLarge.status, tooLarge.body.reason]).toEqual([400, 'validation_failed'])
    for (const body of [[], 'text', 7, null]) expect((await second.put(url, body)).status).toBe(400)
    expect((await second.get(url)).body).toEqual(fitting)
  })
})

describe('GET /platform/users', () => {
  it('lists people and services with their vaults to platform administrators only', async () => {
    const platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
    const vault = await createVaultFixture(test, { code: 'users-vault', adminEmail: 'keeper@example.org' })
    await addMember(test, vault, 'first.person@example.org', ['treasury', 'approvers'])
    const tokens = '/vaults/users-vault/service-tokens'
    const create = async (name: string) =>
      (await vault.admin.post(tokens, { name, groupIds: [vault.groups.administrators] })).body
    const [kept, revoked] = [await create('Payroll'), await create('Old payroll')]
    await vault.admin.delete(`${tokens}/${revoked.id}`)

    const { body } = await platform.get('/platform/users?limit=100')
    const userOf = (id: string) => body.items.find(({ userId }) => userId === id)
    const of = { code: 'users-vault', name: vault.vault.name }
    expect(userOf(first.userId)).toMatchObject({
      email: 'first.person@example.org',
      vaults: [of],
      isPlatformAdmin: false,
    })
    expect(userOf(platform.userId)).toEqual({
      userId: platform.userId,
      kind: 'person',
      name: 'platform',
      email: 'platform@example.org',
      createdAt: expect.stringMatching(/Z$/),
      lastSeenAt: expect.stringMatching(/Z$/),
      vaults: [],
      isPlatformAdmin: true,
      disabledAt: null,
    })
    expect(userOf(kept.userId)).toMatchObject({ kind: 'service', name: 'Payroll', email: null, lastSeenAt: null })
    expect(userOf(revoked.userId)).toBeUndefined()

    const found = async (query: string) =>
      (await platform.get(`/platform/users?${query}`)).body.items.map(({ userId }) => userId)
    expect(await found('search=FIRST.PERSON@')).toEqual([first.userId])
    for (const search of ['%25', '_', '%27%20or%20true']) expect(await found(`search=${search}`)).toEqual([])
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: AnswerOf<'get', '/platform/users'> = await platform.get(
        `/platform/users?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      paged.push(...page.body.items.map(({ userId }) => userId))
      cursor = page.body.nextCursor
    }
    expect(paged).toEqual(body.items.map(({ userId }) => userId))

    const member = await addMember(test, vault, 'nobody.special@example.org', ['treasury'])
    expect((await member.get('/platform/users')).status).toBe(403)
    expect((await test.anonymous.get('/platform/users')).status).toBe(401)
  })
})
