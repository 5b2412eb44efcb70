import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { fingerprintOf } from '../../../lib/signed-vote.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'

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
  it('shows what the wallet service demands, with the fingerprint of each key, and where it signs', async () => {
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
