import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import type { AuditRecord } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { createSignInLink } from '../../people/sign-in/actions.ts'
import { sealAuditRecords } from './audit-seals.ts'
import { verifyAudit } from './verify.ts'

let test: TestApp
let platform: Person
let harbour: VaultFixture
let meadow: VaultFixture
let member: Person

beforeAll(async () => {
  test = await createTestApp({ TRUST_PROXY: '1' })
  harbour = await createVaultFixture(test, { code: 'harbour', adminEmail: 'harbour@example.org' })
  meadow = await createVaultFixture(test, { code: 'meadow', adminEmail: 'meadow@example.org' })
  platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
  member = await addMember(test, harbour, 'member@example.org')
})
afterAll(() => test.close())

type Log = `/vaults/${string}/audit-log?${string}` | `/audit-log?${string}`
const logOf = async (reader: Person, path: Log): Promise<AuditRecord[]> => (await reader.get(path)).body.items
const logOfVault = (vault: VaultFixture, query: string) =>
  logOf(vault.admin, `/vaults/${vault.code}/audit-log?limit=100&${query}`)
const logOfPlatform = (query: string) => logOf(platform, `/audit-log?limit=100&${query}`)

async function signIn(email: string): Promise<Person> {
  const link = await inTransaction(test.deps.db, (trx) => createSignInLink(trx, test.deps, email, test.clock.now()))
  const token = new URL(link).searchParams.get('token')
  const headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'Test/1' }
  const { body } = await test.anonymous.post('/auth/magic-link/verify', { token }, headers)
  return { ...test.client({ authorization: `Bearer ${body.token}` }), token: body.token, userId: body.user.id, email }
}

describe('the audit log of a vault', () => {
  it('has the sign-ins and sign-outs of its members, with method, address and agent', async () => {
    const person = await signIn(member.email)
    const sessionId = (await person.get('/auth/sessions?limit=1')).body.items[0]!.id
    await person.post('/auth/sign-out')
    const signedIn = {
      action: 'user.signed_in',
      actorId: member.userId,
      targetType: 'session',
      targetId: sessionId,
      details: { method: 'operator_link', ip: '203.0.113.7', userAgent: 'Test/1', isNewDevice: true },
    }
    for (const items of [
      await logOfVault(harbour, `target=${sessionId}`),
      await logOfPlatform(`target=${sessionId}`),
    ]) {
      expect(items).toMatchObject([{ action: 'user.signed_out', actorId: member.userId }, signedIn])
    }
    expect(await logOfVault(harbour, `target=${member.userId}`)).toMatchObject([
      { action: 'operator.sign_in_link_created', actorId: null },
    ])
  })

  it('has no events of people who are not members, or of other vaults', async () => {
    const outsider = await test.signIn('outsider@example.org')
    await signIn(outsider.email)
    await addMember(test, meadow, 'outsider@example.org')
    const both = await addMember(test, harbour, 'both@example.org')
    await meadow.admin.post(`/policy-groups/${meadow.groups.administrators}/members`, { userId: both.userId })
    await signIn(both.email)
    expect(await logOfVault(harbour, `actor=${outsider.userId}`)).toEqual([])
    expect(await logOfVault(meadow, `actor=${outsider.userId}`)).toEqual([])
    expect(await logOfPlatform(`actor=${outsider.userId}`)).toHaveLength(1)
    expect(await logOfVault(meadow, `actor=${member.userId}`)).toEqual([])
    const [inHarbour] = await logOfVault(harbour, `actor=${both.userId}`)
    const [inMeadow] = await logOfVault(meadow, `actor=${both.userId}`)
    expect(inHarbour!.details).toEqual(inMeadow!.details)
    // The content that is sealed names the log that it stands in.
    expect(JSON.stringify(inHarbour)).not.toContain(meadow.id)
    expect(JSON.stringify(inMeadow)).not.toContain(harbour.id)
  })

  it('has the kill switch of a token that the vault uses, and of no other token', async () => {
    await allowAll(harbour, 'create_address')
    await createAddress(harbour.admin, { vault: 'harbour', token: 'USDT' })
    const { id } = harbour.tokens.usdt
    expect((await platform.patch(`/tokens/${id}`, { enabled: false })).status).toBe(200)
    const expected = [{ action: 'token.updated', actorId: platform.userId, details: { changes: { enabled: false } } }]
    expect(await logOfVault(harbour, `target=${id}`)).toMatchObject(expected)
    expect(await logOfVault(meadow, `target=${id}`)).toEqual([])
    expect(await logOfPlatform(`target=${id}&action=token.updated`)).toMatchObject(expected)
    await platform.patch(`/tokens/${id}`, { enabled: true })
  })

  it('has the changes of a token that stands in its books or belongs to a variant', async () => {
    const { id } = harbour.tokens.eth
    const variants = [{ id: 1, code: 'ops', name: 'Operations', token: 'ETH' }]
    const routes = { network: fixtureRoutes.network, purpose: { order: 1, name: 'Purpose', variants } }
    const drawn = await createVaultFixture(test, { code: 'drawn', adminEmail: 'harbour@example.org', routes })
    await allowAll(meadow, 'create_address')
    const address = await createAddress(meadow.admin, { vault: 'meadow' })
    const booked = await meadow.admin.post('/vaults/meadow/adjustments', {
      addressId: address.id,
      tokenId: id,
      amount: '1',
      reason: 'Opening balance',
    })
    expect(booked.status).toBe(201)
    await platform.patch(`/tokens/${id}`, { name: 'Ether' })
    expect(await logOfVault(drawn, `target=${id}`)).toHaveLength(1)
    expect(await logOfVault(meadow, `target=${id}`)).toHaveLength(1)
  })

  it('has the sign-in that joined the vault, and the log of the platform has all vaults and users', async () => {
    const created = await logOfPlatform('action=vault.created')
    expect(created.map(({ details }) => details)).toEqual(
      ['drawn', 'meadow', 'harbour'].map((code) => ({ code, name: 'Main vault' })),
    )
    await harbour.admin.post('/invitations', { email: 'guest@example.org', groupIds: [harbour.groups.administrators] })
    const guest = await signIn('guest@example.org')
    expect(await logOfPlatform(`target=${guest.userId}`)).toMatchObject([
      { action: 'user.created', details: { email: 'guest@example.org' } },
    ])
    // The vaults that were joined by this sign-in have it on their record.
    expect(await logOfVault(harbour, `actor=${guest.userId}&action=user.signed_in`)).toHaveLength(1)
  })

  it('is sealed and verified with these records', async () => {
    await sealAuditRecords(test.deps)
    const chains = await verifyAudit(test.deps.db)
    expect(chains.map(({ chain, fault }) => [chain, fault])).toEqual(
      expect.arrayContaining([
        ['platform', null],
        [harbour.id, null],
        [meadow.id, null],
      ]),
    )
    expect(chains.filter(({ fault, unsealedRecords }) => fault !== null || unsealedRecords > 0)).toEqual([])
  })
})
