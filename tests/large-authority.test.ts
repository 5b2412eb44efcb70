import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWalletClient } from '../server/src/modules/registry/wallet-service/client.ts'
import { createGuardedDispatcher } from '../server/src/outbound/guarded-connect.ts'
import { canonicalForm, hashOf } from '../wallet/src/authority/canonical.ts'
import type { Authority } from '../wallet/src/authority/documents.ts'
import { authorityBytesMax } from '../wallet/src/limits.ts'
import { type ProtectedWallet, startProtectedWallet } from '../wallet/src/testing/protected-wallet.ts'
import { authority, follow, passkey, signVote, type TestKey } from '../wallet/src/testing/signing.ts'
import { call } from '../wallet/src/testing/wallet-client.ts'

let bench: ProtectedWallet
beforeAll(async () => {
  bench = await startProtectedWallet(['large'])
})
afterAll(() => bench?.stop())

/** 50 people with three keys each, whose ids are as long as those of the service. */
const people = Array.from({ length: 50 }, (_, number) => `cmf00000000000000000000${number.toString().padStart(2, '0')}`)
const keysOf = (person: string): TestKey[] => ['phone', 'laptop', 'stick'].map((name) => passkey(person, person + name))
const keys = people.map(keysOf)

const bytesOf = (document: Authority) => Buffer.byteLength(canonicalForm(document))

/** Lists as many addresses as the limits permit. */
function filled(document: Authority): Authority {
  const network = 'a'.repeat(63)
  const addressAt = (index: number) => ({ network, address: `0x${index.toString().padStart(40, '0')}` })
  const addresses = Array.from({ length: 1_000 }, (_, index) => addressAt(index))
  const left = authorityBytesMax - bytesOf({ ...document, addresses: [] })
  return { ...document, addresses: addresses.slice(0, Math.floor(left / (canonicalForm(addressAt(0)).length + 1))) }
}

test('T81 the largest next version with the most votes is taken, and the service reads and cancels it', async () => {
  const usual = {
    keys: keys.flat().map(({ entry }) => entry),
    groups: [...authority.groups.map(({ id }) => ({ id, persons: people })), { id: 'directors', persons: people }],
    contacts: people.map((person) => ({ person, email: `${person}@example.org` })),
    change: { group: 'officers', votes: 50 },
    delayHours: 24,
    addresses: [],
  }
  expect(bytesOf({ ...authority, ...usual })).toBeGreaterThan(64 * 1024)
  const changes = { ...usual, addresses: filled({ ...authority, ...usual, vaultId: 'vault-large' }).addresses }
  const { pinned, token } = await bench.protect('large', changes)
  expect(bytesOf(pinned)).toBeGreaterThan(authorityBytesMax - 200)
  const signers = keys.map(([first]) => first!)
  const next = follow(pinned, { rules: pinned.rules.slice(0, 1) }, signers)
  const update = await call<{ details?: string }>(bench.url(), '/authority', { token, body: next })
  expect([update.status, update.body.details]).toEqual([200, undefined])
  const client = createWalletClient({
    url: bench.url(),
    secret: token,
    dispatcher: createGuardedDispatcher({ allowedHosts: ['127.0.0.1'], connectTimeoutMilliseconds: 1_000 }),
    timeoutMilliseconds: 60_000,
  })
  const hash = hashOf(next.authority)
  expect(await client.findAuthority()).toMatchObject({ version: 1, pending: { version: 2, hash } })
  const about = { subject: 'authority', hash, decision: 'reject', authority: hashOf(pinned) } as const
  const votes = signers.slice(1).map((key) => signVote(key, { ...about, signedAt: new Date().toISOString() }))
  expect(await client.cancelAuthority(votes)).toMatchObject({ version: 1, pending: null })
}, 60_000)
