import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { insertVault, type VaultFixture } from '../../../testing/vault-fixture.ts'
import { createSignInLink, redeemMagicLink } from './actions.ts'

let test: TestApp
let platform: Person
let admin: Person
let vault: VaultFixture
let groupId: string

beforeAll(async () => {
  test = await createTestApp()
  platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
  admin = await test.signIn('admin@example.org')
  vault = await insertVault(test, 'main-vault', admin)
  groupId = await vault.addGroup('treasury')
})
afterAll(() => test.close())

const statusOf = async (token: string) =>
  (await test.client({ authorization: `Bearer ${token}` }).get('/auth/session')).status
const statusesOf = (people: { token: string }[]) => Promise.all(people.map(({ token }) => statusOf(token)))

async function linkFor(email: string): Promise<string> {
  const link = await inTransaction(test.deps.db, (trx) => createSignInLink(trx, test.deps, email, test.clock.now()))
  return new URL(link).searchParams.get('token')!
}

const redeem = (token: string, userAgent: string) =>
  test.anonymous.post('/auth/magic-link/verify', { token }, { 'user-agent': userAgent })

async function devicesOf(userId: string): Promise<number> {
  const rows = await test.deps.db.selectFrom('known_devices').select('user_id').where('user_id', '=', userId).execute()
  return rows.length
}

async function recordsOf(userId: string, chain: string) {
  const rows = await test.deps.db
    .selectFrom('audit_records')
    .select(['action', 'actor_id', 'content'])
    .where('chain', '=', chain)
    .where('action', 'in', ['user.signed_out_everywhere', 'session.revoked'])
    .orderBy('action', 'desc')
    .execute()
  const records = rows.map(({ content, ...row }) => ({ ...row, details: JSON.parse(content).details }))
  return records.filter(({ actor_id: actorId }) => actorId === userId)
}

describe('a person who signs out everywhere', () => {
  it('keeps the session of the request and its device with `keepCurrent`, and loses other sessions, devices and links', async () => {
    const email = 'owner@example.org'
    const first = await test.signIn(email)
    await redeem(await linkFor(email), 'Stolen/1')
    const { body } = await redeem(await linkFor(email), 'Mine/1')
    const mine = test.client({ authorization: `Bearer ${body.token}` })
    const pending = await linkFor(email)
    expect(await devicesOf(first.userId)).toBe(2)
    const answer = await mine.post('/auth/sign-out-everywhere', { keepCurrent: true })
    expect([answer.status, answer.body]).toEqual([200, { ended: 2 }])
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect([await statusOf(first.token), await statusOf(body.token!)]).toEqual([401, 200])
    expect((await mine.get('/auth/sessions')).body.items).toMatchObject([{ current: true, userAgent: 'Mine/1' }])
    expect(await devicesOf(first.userId)).toBe(1)
    expect((await redeem(pending, 'Stolen/1')).status).toBe(401)
  })

  it('loses the session of the request and the cookie without `keepCurrent`, on the record', async () => {
    const [first, second, other] = [
      await test.signIn('leaving@example.org'),
      await test.signIn('leaving@example.org'),
      await test.signIn('bystander@example.org'),
    ]
    const answer = await second.post('/auth/sign-out-everywhere', {})
    expect([answer.status, answer.body]).toEqual([200, { ended: 2 }])
    expect(String(answer.headers['set-cookie'])).toMatch(/^session_token=;/)
    expect(await statusesOf([first, second, other])).toEqual([401, 401, 200])
    const revoked = { action: 'session.revoked', actor_id: first.userId, details: { via: 'everywhere' } }
    expect(await recordsOf(first.userId, 'platform')).toEqual([
      { action: 'user.signed_out_everywhere', actor_id: first.userId, details: { sessions: 2 } },
      revoked,
      revoked,
    ])
  })

  it('cannot be a service', async () => {
    const body = { name: 'Bookkeeping', groupIds: [groupId] }
    const { token } = (await admin.post('/vaults/main-vault/service-tokens', body)).body
    const service = test.client({ authorization: `Bearer ${token}` })
    const answer = await service.post('/auth/sign-out-everywhere', { keepCurrent: true })
    expect([answer.status, answer.body.reason]).toEqual([409, 'no_session'])
    expect((await service.get('/vaults/main-vault')).status).toBe(200)
  })
})

describe('a platform administrator', () => {
  it('sees the sessions of a user: how, where and when they began', async () => {
    const email = 'watched@example.org'
    const { userId } = await test.signIn(email)
    test.clock.advance(1_000)
    await redeem(await linkFor(email), 'Test/1')
    const { status, body } = await platform.get(`/users/${userId}/sessions`)
    expect(status).toBe(200)
    expect(body.items).toMatchObject([
      { method: 'operator_link', provider: null, userAgent: 'Test/1', ip: '127.0.0.1', current: false },
      { method: null, provider: null, userAgent: null, ip: null, current: false },
    ])
    const page = (await platform.get(`/users/${userId}/sessions?limit=1`)).body
    expect(page.items).toEqual(body.items.slice(0, 1))
    const rest = (await platform.get(`/users/${userId}/sessions?limit=1&cursor=${page.nextCursor}`)).body
    expect(rest).toEqual({ items: body.items.slice(1), nextCursor: null })
    expect((await platform.get(`/users/${platform.userId}/sessions`)).body.items).toMatchObject([{ current: true }])
    expect((await platform.get('/users/nobodys/sessions')).status).toBe(404)
  })

  it('signs a user out, on the record of the platform and of their vaults, and the user signs in again', async () => {
    const email = 'lost-phone@example.org'
    const [first, second] = [await test.signIn(email), await test.signIn(email)]
    await vault.addMember(groupId, first.userId)
    const pending = await linkFor(email)
    const answer = await platform.post(`/users/${first.userId}/sign-out-everywhere`)
    expect([answer.status, answer.body]).toEqual([200, { ended: 2 }])
    expect(await statusesOf([first, second, platform])).toEqual([401, 401, 200])
    expect((await redeem(pending, 'Test/1')).status).toBe(401)
    const revoked = { action: 'session.revoked', actor_id: platform.userId, details: { via: 'everywhere' } }
    for (const chain of ['platform', vault.id])
      expect(await recordsOf(platform.userId, chain), chain).toEqual([
        { action: 'user.signed_out_everywhere', actor_id: platform.userId, details: { sessions: 2 } },
        revoked,
        revoked,
      ])
    expect((await redeem(await linkFor(email), 'Test/1')).status).toBe(200)
    expect((await platform.post('/users/nobodys/sign-out-everywhere')).status).toBe(404)
  })

  it('ends the session of a link that is redeemed at the same time', async () => {
    const email = 'racing@example.org'
    const { userId } = await test.signIn(email)
    const token = await linkFor(email)
    const { pending, opened } = await inTransaction(test.deps.db, async (trx) => {
      const device = { kind: 'program' as const, userAgent: null, ip: '127.0.0.1', cookie: null }
      const signedIn = await redeemMagicLink(trx, test.deps, { token, device }, test.clock.now())
      const signingOut = platform.post(`/users/${userId}/sign-out-everywhere`)
      await untilSessionsWait(test.deps.db)
      return { pending: signingOut, opened: signedIn!.token }
    })
    expect((await pending).body).toEqual({ ended: 2 })
    expect(await statusOf(opened)).toBe(401)
  })

  it('is the only one who sees and ends the sessions of others', async () => {
    const member = await test.signIn('member@example.org')
    await vault.addMember(groupId, member.userId)
    for (const by of [admin, member]) {
      expect((await by.get(`/users/${platform.userId}/sessions`)).status).toBe(403)
      expect((await by.post(`/users/${platform.userId}/sign-out-everywhere`)).status).toBe(403)
    }
    expect(await statusOf(platform.token)).toBe(200)
  })
})
