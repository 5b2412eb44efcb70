import { generateKeyPairSync } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { profileOf } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { insertVault, type VaultFixture } from '../../../testing/vault-fixture.ts'

let test: TestApp
let admin: Person
let member: Person
let stranger: Person
let vault: VaultFixture
let otherVault: VaultFixture
let botsId: string

beforeAll(async () => {
  test = await createTestApp({ TRUST_PROXY: '1' })
  admin = await test.signIn('admin@example.org')
  member = await test.signIn('member@example.org')
  stranger = await test.signIn('stranger@example.org')
  vault = await insertVault(test, 'main-vault', admin)
  otherVault = await insertVault(test, 'other-vault', stranger)
  botsId = await vault.addGroup('bots')
  await vault.addMember(botsId, member.userId)
})
afterAll(() => test.close())

const url = '/vaults/main-vault/service-tokens'
const create = (body: object = {}, by = admin) => by.post(url, { name: 'Payout bot', groupIds: [botsId], ...body })
const bearing = (token: string) => test.client({ authorization: `Bearer ${token}` })

describe('service tokens', () => {
  it('are shown once and act as a member of their groups', async () => {
    const answer = await create()
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      name: 'Payout bot',
      createdById: admin.userId,
      createdBy: profileOf(admin),
      expiresAt: null,
      revokedAt: null,
    })
    expect(answer.body.token).toMatch(/^srk_[A-Za-z0-9_-]{43}$/)

    const session = await bearing(answer.body.token).get('/auth/session')
    expect(session.status).toBe(200)
    expect(session.body).toMatchObject({
      user: { id: answer.body.userId, name: 'Payout bot', email: null },
      expiresAt: null,
      isPlatformAdmin: false,
      vaults: [{ code: 'main-vault', name: 'Vault main-vault', isAdmin: false }],
    })

    const { token: _, ...listed } = answer.body
    const used = { lastUsedAt: expect.any(String), lastUsedFrom: '127.0.0.1' }
    expect((await admin.get(url)).body.items).toContainEqual({ ...listed, ...used })
  })

  it('are paged', async () => {
    test.clock.advance(1000)
    const { body: newest } = await create({ name: 'Newest' })
    const first = await admin.get(`${url}?limit=1`)
    expect(first.body.items.map((item) => item.id)).toEqual([newest.id])
    const second = await admin.get(`${url}?limit=1&cursor=${first.body.nextCursor}`)
    expect(second.body.items).toHaveLength(1)
    expect(second.body.items[0]!.id).not.toBe(newest.id)
  })

  it('end when they expire', async () => {
    const expiresAt = new Date(test.clock.now().getTime() + 3_600_000).toISOString()
    const { body } = await create({ expiresAt })
    expect(body.expiresAt).toBe(expiresAt)
    const service = bearing(body.token)
    expect((await service.get('/auth/session')).body.expiresAt).toBe(expiresAt)
    test.clock.advance(3_600_001)
    expect((await service.get('/auth/session')).status).toBe(401)
  })

  it('show the time and address of their last use, updated each hour and sooner when the address changes', async () => {
    const { body } = await create()
    const use = async (ip: string) => {
      const headers = { authorization: `Bearer ${body.token}`, 'x-forwarded-for': ip }
      expect((await test.client(headers).get('/auth/session')).status).toBe(200)
    }
    const lastUse = async () => {
      const { items } = (await admin.get(`${url}?limit=100`)).body
      const { lastUsedAt, lastUsedFrom } = items.find(({ id }) => id === body.id)!
      return [lastUsedAt, lastUsedFrom]
    }
    expect([body.lastUsedAt, body.lastUsedFrom]).toEqual([null, null])
    expect(await lastUse()).toEqual([null, null])
    await use('203.0.113.7')
    const first = await lastUse()
    expect(first[1]).toBe('203.0.113.7')
    expect(Math.abs(test.clock.now().getTime() - Date.parse(first[0]!))).toBeLessThan(60_000)
    await use('203.0.113.8')
    expect(await lastUse()).toEqual(first)
    test.clock.advance(60_000)
    await use('203.0.113.7')
    expect(await lastUse()).toEqual(first)
    await use('203.0.113.8')
    const second = await lastUse()
    expect(second[1]).toBe('203.0.113.8')
    expect(Date.parse(second[0]!)).toBeGreaterThan(Date.parse(first[0]!))
    test.clock.advance(3_600_000)
    await use('203.0.113.8')
    expect(Date.parse((await lastUse())[0]!)).toBeGreaterThan(Date.parse(second[0]!))
  })

  it('T97 are accepted from their networks alone, whatever the headers of a request say', async () => {
    const networks = ['203.0.113.0/24', '2001:db8::/32']
    const { status, body } = await create({ networks })
    expect([status, body.networks]).toEqual([201, networks])
    expect((await admin.get(`${url}?limit=100`)).body.items.find(({ id }) => id === body.id)!.networks).toEqual(
      networks,
    )
    const useFrom = async (forwarded: string | null, more: Record<string, string> = {}) => {
      const from: Record<string, string> = forwarded === null ? {} : { 'x-forwarded-for': forwarded }
      const answer = await test.client({ authorization: `Bearer ${body.token}`, ...from, ...more }).get('/auth/session')
      return answer.status === 401 ? answer.body.reason : answer.status
    }
    for (const ip of ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8:1::1', '198.51.100.9, 203.0.113.7'])
      expect(await useFrom(ip), ip).toBe(200)
    for (const ip of [null, '203.0.114.7', '2001:db9::1', '127.0.0.1', '203.0.113.7, 198.51.100.9', 'nonsense'])
      expect(await useFrom(ip), String(ip)).toBe('invalid_token')
    const forged = { forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7', 'true-client-ip': '203.0.113.7' }
    expect(await useFrom('198.51.100.9', forged)).toBe('invalid_token')
    const inCookie = test.client({ cookie: `session_token=${body.token}`, 'x-forwarded-for': '198.51.100.9' })
    expect((await inCookie.get('/auth/session')).status).toBe(401)
    const records = test.deps.db.selectFrom('audit_records').select('content').where('target_id', '=', body.id)
    expect(JSON.parse((await records.executeTakeFirstOrThrow()).content).details).toMatchObject({ networks })
  })

  it('refuse networks that are not valid', async () => {
    for (const network of ['203.0.113.7', '203.0.113.7/24', '10/8', 'example.org/24', '::ffff:203.0.113.0/120']) {
      const { status, body } = await create({ networks: [network] })
      expect([status, body.details?.[0]?.field], network).toEqual([400, 'networks'])
    }
    expect((await create({ networks: [] })).status).toBe(400)
    expect((await create({ networks: Array.from({ length: 21 }, (_, n) => `10.0.${n}.0/24`) })).status).toBe(400)
    expect((await create({ networks: null })).body.networks).toBeNull()
  })

  it('have no session to sign out of', async () => {
    const { body } = await create()
    const service = bearing(body.token)
    expect((await service.post('/auth/sign-out')).status).toBe(409)
    expect((await service.get('/auth/sessions')).body).toEqual({ items: [], nextCursor: null })
    expect((await service.get('/auth/session')).status).toBe(200)
  })

  it('refuse a past expiry, no group, everyone, and groups of other vaults', async () => {
    const past = await create({ expiresAt: test.clock.now().toISOString() })
    expect(past.status).toBe(400)
    expect(past.body.details[0]!.field).toBe('expiresAt')
    expect((await create({ expiresAt: '2026-02-30' })).status).toBe(400)
    expect((await create({ groupIds: [] })).status).toBe(400)
    expect((await create({ groupIds: [vault.everyoneId] })).status).toBe(400)
    expect((await create({ groupIds: [otherVault.administratorsId] })).status).toBe(404)
    expect((await create({ name: ' ' })).status).toBe(400)
  })

  it('T47 are refused from the next request on after their revocation', async () => {
    const { body } = await create()
    const service = bearing(body.token)
    expect((await service.get('/auth/session')).status).toBe(200)
    expect((await admin.delete(`${url}/${body.id}`)).status).toBe(204)
    expect((await service.get('/auth/session')).status).toBe(401)

    expect((await admin.delete(`${url}/${body.id}`)).status).toBe(204)
    const { items } = (await admin.get(`${url}?limit=100`)).body
    expect(items.find((item) => item.id === body.id)!.revokedAt).not.toBeNull()
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select('action')
      .where('chain', '=', vault.id)
      .where('target_id', '=', body.id)
      .execute()
    expect(records.map((record) => record.action).sort()).toEqual(['service_token.created', 'service_token.revoked'])
  })

  it('are stored as digests: no table, audit record or stored answer contains a token', async () => {
    const answer = await admin.post(url, { name: 'Keyed', groupIds: [botsId] }, { 'idempotency-key': 'bot-1' })
    const again = await admin.post(url, { name: 'Keyed', groupIds: [botsId] }, { 'idempotency-key': 'bot-1' })
    const { token: _token, ...rest } = answer.body
    expect([again.status, again.body]).toEqual([201, rest])
    const { rows } = await sql`
      select row_to_json(t)::text as text from service_tokens t where id = ${answer.body.id}
      union all select content from audit_records
      union all select encode(body, 'escape') from idempotency_keys`.execute(test.deps.db)
    expect(rows.length).toBeGreaterThan(2)
    expect(JSON.stringify(rows)).not.toContain(answer.body.token!.slice(4))
  })

  it('have at most ten keys at a time, however many were revoked, and however many are added at once', async () => {
    const { id } = (await create()).body
    const keys = `${url}/${id}/keys` as const
    const add = () => {
      const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })
      return admin.post(keys, { name: 'Key', publicKey: publicKey.toString('base64url') })
    }
    for (let count = 0; count < 9; count += 1) expect((await add()).status).toBe(201)
    for (let count = 0; count < 11; count += 1) {
      test.clock.advance(1_000)
      const { status, body } = await add()
      expect([status, (await admin.delete(`${keys}/${body.id}`)).status]).toEqual([201, 204])
    }
    const added = await inTransaction(test.deps.db, async (trx) => {
      await trx.selectFrom('service_tokens').select('id').where('id', '=', id).forUpdate().execute()
      const added = [add(), add()]
      await untilSessionsWait(test.deps.db, 2)
      return { added }
    })
    expect((await Promise.all(added.added)).map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('T39 are for administrators of the vault', async () => {
    const { body } = await create()
    for (const [caller, status] of [
      [member, 403],
      [stranger, 403],
      [bearing(body.token), 403],
      [test.anonymous, 401],
    ] as const) {
      expect((await caller.post(url, { name: 'x', groupIds: [botsId] })).status).toBe(status)
      expect((await caller.get(url)).status).toBe(status)
      expect((await caller.delete(`${url}/${body.id}`)).status).toBe(status)
    }
    expect((await stranger.delete(`/vaults/other-vault/service-tokens/${body.id}`)).status).toBe(404)
    expect((await admin.post('/vaults/no-vault/service-tokens', { name: 'x', groupIds: [botsId] })).status).toBe(404)
    expect((await bearing(body.token).get('/auth/session')).status).toBe(200)
  })
})
