import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import { type FakeWallet, fakeAddress, startFakeWallet } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, createVaultFixture } from '../../../testing/fixtures.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { pickSamples } from './probe-wallet.ts'

let outbox: Outbox
let bench: TransferBench
let addresses: { address: string; derivationPath: string; createdAt: string }[]
beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ DATA_DIR: outbox.dataDir })
  await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  addresses = []
  for (let index = 0; index < 30; index += 1) addresses.push(await createAddress(bench.owner))
})
afterAll(async () => {
  await bench.close()
  await outbox.remove()
})

let moved: FakeWallet
beforeEach(async () => {
  moved = await startFakeWallet()
  const { secret } = bench.vault.wallet
  // A wallet service with the same keys, but another URL and another secret.
  moved.answerWithAddress = (path) => fakeAddress(secret + path)
})

const url = '/vaults/main-vault'
const change = (body: object, headers: Record<string, string> = {}) => bench.vault.admin.patch(url, body, headers)
const to = (wallet: FakeWallet) => ({ walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret })
const probed = (wallet: FakeWallet) => wallet.requests.map(({ body }) => body.derivationPath as string)
const present = async () => (await bench.vault.admin.get(url)).body.walletServiceUrl

async function back(): Promise<void> {
  expect((await change(to(bench.vault.wallet))).status).toBe(200)
  bench.vault.wallet.requests.length = 0
}

describe('T61 a new wallet service', () => {
  it('is accepted after it has shown the first, the last and twenty random addresses', async () => {
    const answer = await change(to(moved))
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(await present()).toBe(moved.url)
    const probedPaths = probed(moved)
    expect(probedPaths.length).toBeGreaterThan(12)
    expect(probedPaths.length).toBeLessThanOrEqual(22)
    expect(new Set(probedPaths).size).toBe(probedPaths.length)
    expect(probedPaths).toEqual(
      expect.arrayContaining([addresses[0]!.derivationPath, addresses.at(-1)!.derivationPath]),
    )
    expect(moved.requests.every(({ headers }) => headers.authorization === `Bearer ${moved.secret}`)).toBe(true)
    await back()
  })

  it('is refused, announced and recorded when one address differs, however many agree', async () => {
    bench.test.clock.advance(61_000)
    await sendNotifications(bench.test.deps)
    await outbox.clear()
    const wrong = addresses.at(-1)!.derivationPath
    const honest = moved.answerWithAddress!
    moved.answerWithAddress = (path) => (path === wrong ? fakeAddress('thief') : honest(path))
    const answer = await change({ ...to(moved), name: 'Renamed' })
    expect([answer.status, answer.body.reason]).toEqual([409, 'wallet_differs'])
    expect(answer.body.message).toContain(`${wrong} on ethereum`)
    expect(await present()).toBe(bench.vault.wallet.url)
    expect((await bench.vault.admin.get(url)).body.name).toBe('Main vault')
    expect(await bench.audited('vault.wallet_refused', bench.vault.id)).toBe(1)
    bench.test.clock.advance(61_000)
    await sendNotifications(bench.test.deps)
    const mails = await outbox.read()
    expect(mails.map((mail) => mail.to).sort()).toEqual([bench.vault.admin.email, 'second.admin@example.org'])
    expect(mails[0]!.text).toContain('was refused, because its addresses differ')
    expect(mails[0]!.text).toContain(wrong)
  })

  it('is refused when it fails, is silent, or answers with an invalid address', async () => {
    moved.down = 'error'
    expect((await change(to(moved))).body.reason).toBe('wallet_service_failed')
    moved.down = false
    moved.answerWithAddress = () => 'no address'
    expect((await change(to(moved))).body.reason).toBe('wallet_service_failed')
    await moved.close()
    expect((await change(to(moved))).body.reason).toBe('wallet_service_silent')
    expect(await present()).toBe(bench.vault.wallet.url)
  })

  it.each(['http://10.0.0.7:8430', 'http://169.254.169.254', 'http://[fd00::7]:8430'])(
    'is refused for good when the service may not connect to it (%s), without an invitation to try again',
    async (walletServiceUrl) => {
      const answer = await change({ walletServiceUrl, walletServiceSecret: moved.secret })
      expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'walletServiceUrl'])
      expect(answer.headers['retry-after']).toBe(undefined)
      expect(await present()).toBe(bench.vault.wallet.url)
    },
  )

  it('is probed for a new secret alone, and not for a name or the secret of webhooks', async () => {
    const { wallet } = bench.vault
    wallet.requests.length = 0
    expect((await change({ name: 'Main vault', walletServiceUrl: wallet.url })).status).toBe(200)
    expect((await change({ walletWebhookSecret: null })).status).toBe(200)
    expect(wallet.requests).toEqual([])
    expect((await change({ walletServiceSecret: 'not-the-secret-of-it' })).body.reason).toBe('wallet_service_failed')
    expect((await change({ walletServiceSecret: wallet.secret })).status).toBe(200)
    expect(probed(wallet).length).toBeGreaterThan(12)
  })

  it('answers a repetition with the same key as before, without asking it again', async () => {
    const key = { 'idempotency-key': 'move-the-wallet' }
    expect((await change(to(moved), key)).status).toBe(200)
    const requestCount = moved.requests.length
    await moved.close()
    expect((await change(to(moved), key)).status).toBe(200)
    expect(moved.requests).toHaveLength(requestCount)
    await back()
  })

  it('is refused when an address was made, or another change came, while it was asked', async () => {
    const honest = moved.answerWithAddress!
    let isFirst = true
    moved.answerWithAddress = async (path) => {
      if (isFirst) {
        isFirst = false
        await createAddress(bench.owner)
      }
      return honest(path)
    }
    expect((await change(to(moved))).body.reason).toBe('changed_concurrently')
    const other = await startFakeWallet()
    other.answerWithAddress = honest
    isFirst = true
    moved.answerWithAddress = async (path) => {
      if (isFirst) {
        isFirst = false
        expect((await change(to(other))).status).toBe(200)
      }
      return honest(path)
    }
    expect((await change(to(moved))).body.reason).toBe('changed_concurrently')
    expect(await present()).toBe(other.url)
    await back()
  })

  it('never stores an address that the wallet service before it derived', async () => {
    const { wallet } = bench.vault
    const derived = (path: string) => fakeAddress(wallet.secret + path)
    let isFirst = true
    wallet.answerWithAddress = async (path) => {
      if (isFirst) {
        isFirst = false
        expect((await change(to(moved))).status).toBe(200)
      }
      return derived(path)
    }
    const { derivationPath } = await createAddress(bench.owner)
    wallet.answerWithAddress = null
    // The new wallet service derived the address again.
    expect(probed(moved).filter((path) => path === derivationPath)).toHaveLength(1)
    await back()
  })

  it('waits for transfers in flight, and says how many there are', async () => {
    const address = await bench.fundedAddress()
    const orders = await Promise.all(['1', '2'].map((amount) => bench.order(address.id, amount)))
    const refusal = await change(to(moved))
    expect([refusal.status, refusal.body.reason]).toEqual([409, 'transfers_in_flight'])
    expect(refusal.body.message).toMatch(/^2 transfers /)
    await bench.deliver()
    expect((await change(to(moved))).body.message).toMatch(/^2 transfers /)
    for (const { body } of orders) bench.vault.wallet.confirm(body.id)
    await bench.deliver()
    // A transfer that waits for votes is not in flight.
    const waiting = await bench.order(address.id, '500')
    expect(waiting.body.status).toBe('awaiting_approval')
    expect((await change(to(moved))).status).toBe(200)
    await back()
  })

  it('need not be probed while the vault has no address', async () => {
    const draft = await createVaultFixture(bench.test, { code: 'draft-vault', isLocked: false })
    const body = { walletServiceUrl: 'https://wallet.example.org', walletServiceSecret: null }
    expect((await draft.admin.patch('/vaults/draft-vault', body)).status).toBe(200)
  })
})

describe('the samples', () => {
  it('reach every part of a vault, by indexes', async () => {
    const { id } = bench.vault
    // Addresses as after an import: created at one moment, under one prefix.
    await bench.sql(
      `insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index,
         segments, owner_id, created_at, updated_at)
       select vault_id, 'bulk' || n, network_id, 'bulk' || n, 'bulk' || n, 'm/44/60/9/' || n, 'm/44/60/9', n, segments,
         owner_id, now(), now()
       from (select * from addresses where vault_id = $1 limit 1) a, generate_series(0, 9999) n`,
      [id],
    )
    // Five draws, because a single draw may have few addresses of one half.
    const draws = await Promise.all(Array.from({ length: 5 }, () => pickSamples(bench.test.deps.db, id)))
    for (const draw of draws) expect(draw.length).toBeGreaterThan(18)
    const samples = draws.flat()
    const places = samples.map(({ derivationPath }) => Number(/^m\/44\/60\/9\/(\d+)$/.exec(derivationPath)?.[1] ?? -1))
    for (const half of [(place: number) => place >= 0 && place < 5_000, (place: number) => place >= 5_000]) {
      expect(places.filter(half).length).toBeGreaterThan(1)
    }
    // A vault with more prefixes than the choice considers: it considers the prefixes after a random prefix.
    await bench.sql(`update addresses set static_prefix = id, path_index = 0 where id like 'bulk%'`)
    expect((await pickSamples(bench.test.deps.db, id)).length).toBeGreaterThan(12)
  })
})
