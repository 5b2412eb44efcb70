import { generateKeyPairSync } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { fingerprintOf } from '../../../lib/signed-vote.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createVaultFixture, ensureGroup, type VaultFixture } from '../../../testing/fixtures.ts'

let test: TestApp
let vault: VaultFixture
const spki = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' })

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
})
afterAll(() => test.close())
beforeEach(() => {
  vault.wallet.authority = null
  vault.wallet.refuseCancellation = null
})

const person = 'cmf0000000000000000000001'
const documentOf = (more: object = {}) => ({
  format: 'strongroom-authority-2',
  vaultId: vault.id,
  version: 3,
  previous: '0'.repeat(64),
  keys: [{ id: 'key', person, name: 'Phone', kind: 'service', publicKey: spki.toString('base64url') }],
  groups: [{ id: 'treasurers', persons: [person] }],
  addresses: [{ network: 'ethereum', address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }],
  change: { group: 'treasurers', votes: 1 },
  trustsServicePage: false,
  delayHours: 48,
  contacts: [{ person, email: 'anna@example.org' }],
  rules: [
    {
      network: 'ethereum',
      contractAddress: null,
      symbol: 'ETH',
      decimals: 18,
      initiators: 'treasurers',
      perDay: '1000',
      floors: [{ above: '0', to: 'unlisted', group: 'treasurers', votes: 1 }],
    },
  ],
  ...more,
})

const hashOf = (document: object) => sha256(canonicalJson(document)).toString('hex')
const answered = (authority: ReturnType<typeof documentOf>, more: { hash?: string; version?: number } = {}) => {
  vault.wallet.authority = { authority, version: authority.version, hash: more.hash ?? hashOf(authority), ...more }
  return vault.admin.get(`/vaults/${vault.code}/authority`)
}

describe('T58 GET /vaults/{code}/authority', () => {
  it('shows the authority of the wallet service, with the fingerprint and the pages of each key', async () => {
    const place = { rpId: 'sign.example.org', origins: ['https://sign.example.org'] }
    const [service] = documentOf().keys
    const document = documentOf({ keys: [service, { ...service, id: 'phone', kind: 'passkey', ...place }] })
    const { status, body } = await answered(document)
    const { keys, groups, addresses, change, rules } = document
    const { publicKey: _, ...key } = keys[0]!
    expect([status, body]).toEqual([
      200,
      {
        version: 3,
        hash: hashOf(document),
        highest: { version: 3, hash: hashOf(document), seenAt: expect.any(String) },
        alarmSince: null,
        document,
        trustsServicePage: false,
        delayHours: 48,
        pending: null,
        votesToCancel: 1,
        keys: [
          { ...key, fingerprint: fingerprintOf(spki), rpId: null, origins: [] },
          { ...key, id: 'phone', kind: 'passkey', fingerprint: fingerprintOf(spki), ...place },
        ],
        groups,
        addresses,
        change,
        rules,
      },
    ])
  })

  it('is a 404 while the wallet service has none', async () => {
    expect((await vault.admin.get(`/vaults/${vault.code}/authority`)).status).toBe(404)
  })

  it.each([
    ['another hash', () => answered(documentOf(), { hash: '0'.repeat(64) })],
    ['another version', () => answered(documentOf(), { version: 4 })],
    ['the authority of another vault', () => answered(documentOf({ vaultId: person }))],
    ['one without a canonical form', () => answered(documentOf({ more: 0.5 }), { hash: '0'.repeat(64) })],
    ['something else', () => answered(documentOf({ groups: 'all' }))],
  ])('is a 502 for %s', async (_what, ask) => {
    expect(await ask()).toMatchObject({ status: 502, body: { reason: 'wallet_service_failed' } })
  })
})

const inForceAt = '2030-01-02T03:04:05.000Z'

/** Lets the wallet service show a version in force and a version that waits. */
function showPending(more: object = {}) {
  const authority = documentOf({ change: { group: 'treasurers', votes: 3 } })
  const next = documentOf({ version: 4, previous: hashOf(authority), trustsServicePage: true, ...more })
  const pending = { authority: next, version: 4, hash: hashOf(next), inForceAt }
  vault.wallet.authority = { authority, version: 3, hash: hashOf(authority), pending }
  return pending
}

describe('T81 the version that waits', () => {
  it('is shown to every member with its fingerprint, its time, and how many cancel it', async () => {
    const { authority: document, hash } = showPending()
    const member = await test.signIn('member@example.org')
    const members = await ensureGroup(vault, 'members')
    await vault.admin.post(`/policy-groups/${members}/members`, { userId: member.userId })
    const { body } = await member.get(`/vaults/${vault.code}/authority`)
    expect(body).toMatchObject({
      version: 3,
      votesToCancel: 2,
      pending: { version: 4, hash, inForceAt, trustsServicePage: true, document },
    })
  })

  it.each([
    ['has another hash than its document', () => ({ ...showPending(), hash: '0'.repeat(64) })],
    ['does not follow the one in force', () => showPending({ previous: '1'.repeat(64) })],
    ['skips a number', () => ({ ...showPending({ version: 5 }), version: 5 })],
    ['is of another vault', () => showPending({ vaultId: person })],
  ])('makes the answer a 502 if it %s', async (_what, show) => {
    const pending = show()
    vault.wallet.authority = { ...vault.wallet.authority!, pending }
    expect(await vault.admin.get(`/vaults/${vault.code}/authority`)).toMatchObject({
      status: 502,
      body: { reason: 'wallet_service_failed' },
    })
  })
})

describe('T81 POST /vaults/{code}/authority/cancel', () => {
  const voteOn = (hash: string) => ({
    vote: {
      format: 'strongroom-vote-2',
      subject: 'authority',
      hash,
      decision: 'reject',
      person,
      authority: vault.wallet.authority!.hash,
      signedAt: '2026-01-31T09:30:00.000Z',
    },
    keyId: 'key',
    signature: 'c2lnbmF0dXJl',
  })
  const cancel = (...votes: object[]) => vault.admin.post(`/vaults/${vault.code}/authority/cancel`, { votes })
  const handedOver = () => vault.wallet.requests.filter(({ path }) => path === '/authority/cancel')
  const listCancelled = async () => {
    const { rows } = await sql<{ content: string }>`
      select content from audit_records where action = 'vault.authority_cancelled' order by id`.execute(test.deps.db)
    return rows.map(({ content }) => JSON.parse(content).details)
  }

  it('hands the votes over as they are, records it, and answers a repetition without another hand-over', async () => {
    const { hash } = showPending()
    const votes = [voteOn(hash)]
    expect(await cancel(...votes)).toMatchObject({ status: 200, body: { version: 3, pending: null } })
    expect(handedOver().map(({ body }) => body)).toEqual([{ votes }])
    expect(await cancel(...votes)).toMatchObject({ status: 200, body: { version: 3, pending: null } })
    expect(handedOver()).toHaveLength(1)
    expect(await listCancelled()).toEqual([{ version: 4, hash, inForceAt, persons: [person] }])
  })

  it('T57 hands the votes over though the database has a record of their cancellation that the service did not write', async () => {
    const { hash } = showPending({ delayHours: 2 })
    const { numAffectedRows } = await sql`
      insert into audit_records (chain, id, action, target_type, target_id, created_at, content, hash, mac)
      select chain, 'a-forged-record', action, target_type, target_id, created_at, c.content, sha256(convert_to(c.content, 'utf8')), mac
      from audit_records, replace(content, content::jsonb #>> '{details,hash}', ${hash}) as c(content)
      where action = 'vault.authority_cancelled' order by audit_records.id limit 1`.execute(test.deps.db)
    expect(numAffectedRows).toBe(1n)
    const before = handedOver().length
    expect(await cancel(voteOn(hash))).toMatchObject({ status: 200, body: { pending: null } })
    expect(handedOver()).toHaveLength(before + 1)
  })

  it('is a 403 when the wallet service refuses the votes, and nothing is recorded', async () => {
    const { hash } = showPending({ delayHours: 1 })
    vault.wallet.refuseCancellation = 'VOTES_MISSING: treasurers rejected it with 1 of 2 votes'
    const before = await listCancelled()
    expect(await cancel(voteOn(hash))).toMatchObject({
      status: 403,
      body: { reason: 'votes_refused', details: 'VOTES_MISSING' },
    })
    expect(vault.wallet.authority?.pending?.hash).toBe(hash)
    expect(await listCancelled()).toEqual(before)
  })

  it('records a version that people cancelled at the wallet service before, once', async () => {
    const { hash } = showPending({ delayHours: 4 })
    vault.wallet.cancelled.add(hash)
    vault.wallet.authority = { ...vault.wallet.authority!, pending: null }
    for (const _again of [1, 2]) expect((await cancel(voteOn(hash))).status).toBe(200)
    expect((await listCancelled()).at(-1)).toEqual({ version: 4, hash, inForceAt: null, persons: [person] })
    expect((await cancel(voteOn('c'.repeat(64)))).status).toBe(404)
  })

  it('is a 404 for votes on a version that does not wait, which reach no wallet service', async () => {
    showPending({ delayHours: 2 })
    const before = handedOver().length
    expect((await cancel(voteOn('c'.repeat(64)))).status).toBe(404)
    expect(handedOver()).toHaveLength(before)
  })

  it('is a 400 for votes on different versions', async () => {
    const { hash } = showPending({ delayHours: 3 })
    expect((await cancel(voteOn(hash), voteOn('c'.repeat(64)))).status).toBe(400)
    expect(vault.wallet.authority?.pending?.hash).toBe(hash)
  })
})
