import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashOf } from '../authority/canonical.ts'
import type { SignedVote } from '../authority/documents.ts'
import { AuthorityStore } from '../authority/store.ts'
import { type ProtectedWallet, startProtectedWallet } from '../testing/protected-wallet.ts'
import { follow, passkey, signVote, team } from '../testing/signing.ts'

const { anna, ben, carla, dora, emil } = team
const origin = 'http://sign.localhost'

let bench: ProtectedWallet
type Vault = Awaited<ReturnType<ProtectedWallet['protect']>>
let vaults: Record<'stopped' | 'refused' | 'versions' | 'slow', Vault>
beforeAll(async () => {
  bench = await startProtectedWallet(['stopped', 'refused', 'plain', 'versions', 'slow'], {
    signing: { origin, consoleOrigin: 'http://console.localhost' },
  })
  const late = { delayHours: 1, change: { group: 'officers', votes: 3 } }
  // All vaults are protected before the first request, because unknown vaults are searched for once a second.
  vaults = {
    stopped: await bench.protect('stopped'),
    refused: await bench.protect('refused'),
    versions: await bench.protect('versions', late),
    slow: await bench.protect('slow', late),
  }
})
afterAll(() => bench?.stop())

/** Sends a request as a browser does from a page of this origin, without a token. */
async function bring(path: string, body: unknown, from: string | null = origin) {
  const headers = { 'content-type': 'application/json', ...(from === null ? {} : { origin: from }) }
  const answer = await fetch(bench.url() + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  const said = await answer.json()
  return { status: answer.status, body: said as { details?: string; given?: number; needed?: number } }
}

const filesOf = async (suffix: string) => (await readdir(bench.directory)).filter((name) => name.endsWith(suffix))

describe('T58 a veto that its person brings to the wallet service', () => {
  test('stops the order for which the service has all other signatures, and needs no token', async () => {
    const { make, token, sign, pinned } = vaults.stopped
    const order = make('stopped-1')
    const vote = signVote(carla, { hash: hashOf(order), decision: 'reject' })
    for (const _again of [1, 2])
      expect(await bring('/sign/stop', { vaultId: pinned.vaultId, vote })).toEqual({
        status: 200,
        body: { stopped: [hashOf(order)] },
      })
    expect((await bench.hand(token, order, sign(order))).body.details).toMatch(/^STOPPED: carla/)
    expect((await bench.hand(token, make('stopped-2'))).status).toBe(202)
  })

  test('counts only from the page and as the signature of a person of this vault; otherwise nothing is written', async () => {
    const { make, token, pinned, clientId } = vaults.refused
    const { vaultId } = pinned
    const order = make('refused-1')
    const hash = hashOf(order)
    const vote = signVote(ben, { hash, decision: 'reject' })
    const before = await filesOf('.stopped')
    for (const from of [null, 'http://console.localhost', 'http://sign.localhost.evil.example', 'null'])
      for (const path of ['/sign/stop', '/sign/authority/cancel', '/sign/authority'])
        expect((await bring(path, { vaultId, vote }, from)).status).toBe(403)
    const { signature } = signVote(carla, { hash, decision: 'reject' })
    // A payment that is being signed holds the client: a stranger neither waits for it nor gets in its way.
    const payment = await bench.pool.connect()
    await payment.query('begin')
    await payment.query('select from wallet.clients where id = $1 for no key update', [clientId])
    try {
      for (const [wrong, code] of [
        [signVote(ben, { hash, decision: 'approve' }), 'ORDER_DIFFERS'],
        [signVote(ben, { hash, decision: 'reject', subject: 'authority' }), 'ORDER_DIFFERS'],
        [signVote(passkey('ben', 'a stranger'), { hash, decision: 'reject' }), 'KEY_UNKNOWN'],
        [{ ...vote, signature }, 'SIGNATURE_INVALID'],
        [[vote], 'AUTHORIZATION_MALFORMED'],
        [null, 'AUTHORIZATION_MALFORMED'],
      ] as const) {
        const { status, body } = await bring('/sign/stop', { vaultId, vote: wrong })
        expect({ status, details: body.details }).toEqual({ status: 403, details: expect.stringMatching(`^${code}: `) })
      }
      const notOfAuthority = { vaultId, vote: signVote(passkey('dora', 'a stranger'), { hash, decision: 'reject' }) }
      expect((await bring('/sign/authority/cancel', notOfAuthority)).status).toBe(403)
    } finally {
      payment.release(true)
    }
    expect((await bring('/sign/stop', { vaultId, vote, votes: [vote] })).status).toBe(400)
    expect((await bring('/sign/stop', { vaultId, vote: { ...vote, signature: 'A'.repeat(17_000) } })).status).toBe(413)
    expect(await filesOf('.stopped')).toEqual(before)
    expect((await bench.hand(token, order)).status).toBe(202)
  })

  test('is asked to come again while the authority cannot be read, and counts afterwards', async () => {
    const { make, pinned, clientId } = vaults.refused
    const vote = signVote(carla, { hash: hashOf(make('unreadable')), decision: 'reject' })
    const stop = () => bring('/sign/stop', { vaultId: pinned.vaultId, vote })
    const unknown = () => bring('/sign/stop', { vaultId: 'vault-of-nobody', vote })
    const file = join(bench.directory, `${clientId}.json`)
    const content = await readFile(file)
    await writeFile(file, '{')
    try {
      expect((await stop()).status).toBe(503)
      // The unreadable authority may name this vault. Files are searched once a second.
      await expect.poll(async () => (await unknown()).status).toBe(503)
    } finally {
      await writeFile(file, content)
    }
    await expect.poll(async () => (await stop()).status).toBe(200)
    await expect.poll(async () => (await unknown()).status).toBe(404)
  })

  test('has the same answer for an unknown vault and for an unprotected vault', async () => {
    const vote = signVote(ben, { hash: 'a'.repeat(64), decision: 'reject' })
    for (const path of ['/sign/stop', '/sign/authority/cancel']) {
      const unknown = await bring(path, { vaultId: 'vault-of-nobody', vote })
      expect(unknown.status).toBe(404)
      expect(await bring(path, { vaultId: 'vault-plain', vote })).toEqual(unknown)
    }
  })
})

describe('T81 votes against the next version that their people bring to the wallet service one by one', () => {
  const waiting = async ({ pinned, clientId, token }: Vault) => {
    const next = follow(pinned, { rules: [] }, [anna, dora, emil])
    expect((await bench.send<{ pending: object }>(token, '/authority', next)).body.pending).not.toBe(null)
    const about = { subject: 'authority', hash: hashOf(next.authority), authority: hashOf(pinned) } as const
    const reject = (key: typeof anna, more: Partial<SignedVote['vote']> = {}) =>
      signVote(key, { ...about, decision: 'reject', ...more })
    const cancel = (vote: unknown) => bring('/sign/authority/cancel', { vaultId: pinned.vaultId, vote })
    return { pinned, clientId, token, next, reject, cancel }
  }
  const store = () => new AuthorityStore(bench.directory)

  test('are kept, also through a restart, and cancel the version when one fewer than its signers have voted', async () => {
    const { clientId, token, next, reject, cancel } = await waiting(vaults.versions)
    for (const [wrong, code] of [
      [reject(dora, { decision: 'approve' }), 'ORDER_DIFFERS'],
      [reject(dora, { subject: 'transfer' }), 'ORDER_DIFFERS'],
      [reject(dora, { authority: 'a'.repeat(64) }), 'AUTHORITY_VERSION_DIFFERS'],
      [reject(dora, { signedAt: new Date(Date.now() + 600_000).toISOString() }), 'SIGNED_IN_FUTURE'],
      [reject(passkey('dora', 'a stranger')), 'KEY_UNKNOWN'],
      [reject(ben), 'KEY_UNKNOWN'],
      [{ ...reject(dora), signature: reject(emil).signature }, 'SIGNATURE_INVALID'],
      ['none', 'AUTHORIZATION_MALFORMED'],
    ] as const) {
      const { status, body } = await cancel(wrong)
      expect({ status, details: body.details }).toEqual({ status: 403, details: expect.stringMatching(`^${code}: `) })
    }
    expect((await cancel(reject(dora, { hash: 'b'.repeat(64) }))).status).toBe(404)
    expect(await filesOf('.rejected')).toEqual([])
    for (const _again of [1, 2]) expect((await cancel(reject(dora))).body).toEqual({ given: 1, needed: 2 })
    expect((await store().readShown(clientId))?.pending?.version).toBe(2)
    // A line that somebody writes into the file is not a vote, and does not prevent the vote of its person.
    await bench.restart(() => store().rejections.note(clientId, { ...reject(emil), signature: reject(dora).signature }))
    expect((await cancel(reject(dora))).body).toEqual({ given: 1, needed: 2 })
    expect((await cancel(reject(anna))).body).toEqual({ given: 2, needed: 2 })
    expect((await store().readShown(clientId))?.pending).toBe(null)
    // A person who comes late, and the service that hands the votes over, learn that it is done.
    expect((await cancel(reject(emil))).body).toEqual({ given: 2, needed: 2 })
    const votes = [reject(dora), reject(anna)]
    expect(await bench.send(token, '/authority/cancel', { votes })).toMatchObject({
      status: 200,
      body: { pending: null },
    })
    expect((await bench.send<{ details: string }>(token, '/authority', next)).body.details).toMatch(
      /^VERSION_CANCELLED: /,
    )
  })

  test('are all counted when they come at once, and do not count against a later version', async () => {
    const { pinned, clientId, token, reject, cancel } = await waiting(vaults.slow)
    const answers = await Promise.all([cancel(reject(anna)), cancel(reject(dora)), cancel(reject(emil))])
    expect(answers.map(({ body }) => body.given).toSorted()).toEqual([1, 2, 2])
    const later = follow(pinned, { rules: [], contacts: [] }, [anna, dora, emil])
    expect((await bench.send(token, '/authority', later)).status).toBe(200)
    expect((await cancel(reject(emil, { hash: hashOf(later.authority) }))).body).toEqual({ given: 1, needed: 2 })
    expect((await store().readShown(clientId))?.pending?.hash).toBe(hashOf(later.authority))
  })
})
