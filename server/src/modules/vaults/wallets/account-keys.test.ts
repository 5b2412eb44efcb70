import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyState } from '../../../composition/verify-state.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { fakeKeysOf } from '../../../testing/fake-account-keys.ts'
import { type FakeWallet, fakeAddress, startFakeWallet } from '../../../testing/fake-wallet.ts'
import { allowAll, createAddress, createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'
import { hashOfXpub } from './account-keys.ts'

let test: TestApp
let owner: pg.Pool
beforeAll(async () => {
  test = await createTestApp()
  owner = new pg.Pool({ connectionString: test.databaseUrl, max: 1 })
})
afterAll(async () => {
  await owner.end()
  await test.close()
})

const honest = fakeKeysOf('the keys of the vault')
let count = 0
let vault: VaultFixture
let wallet: FakeWallet

/** Creates a vault for one test. With `keys: null` its wallet service shows no keys. */
async function openVault(keys: typeof honest | null, more: object = {}): Promise<void> {
  count += 1
  // Two vaults never share an address.
  vault = await createVaultFixture(test, { code: `vault-${count}`, keys: keys && fakeKeysOf(`keys ${count}`), ...more })
  wallet = vault.wallet
  await allowAll(vault, 'create_address')
}
const checks = async () =>
  Object.fromEntries((await read()).networks.map(({ slug, addressCheck }) => [slug, addressCheck]))
const keysOfVault = () => fakeKeysOf(`keys ${count}`)
const url = () => `/vaults/${vault.code}` as const
const read = async () => (await vault.admin.get(url())).body
const order = (purpose = 'ops') =>
  vault.admin.post(`${url()}/addresses`, { network: 'ethereum', segments: { purpose } })
const make = () => createAddress(vault.admin, { vault: vault.code })
const requestsTo = (path: string) => wallet.requests.filter((request) => request.path.startsWith(path))
const rows = async (text: string, values: unknown[] = []) => (await owner.query(text, values)).rows
const addressCount = async () =>
  (await rows('select count(*)::int as n from addresses where vault_id = $1', [vault.id]))[0].n
const records = async (action: string) =>
  rows(
    `select content::jsonb->'details' as details from audit_records where action = $1 and target_id = $2 order by created_at`,
    [action, vault.id],
  )
const differences = async () =>
  (await verifyState(test.deps.db)).differences.filter(({ vaultId }) => vaultId === vault.id)

async function expectRefused(answer: { status: number; body: { reason: string; message: string } }, message: RegExp) {
  expect([answer.status, answer.body.reason]).toEqual([502, 'wallet_service_failed'])
  expect(answer.body.message).toMatch(message)
}

describe('T61 the keys of a vault', () => {
  beforeEach(() => openVault(honest))

  it('T61 are pinned when it is locked, and each new address is derived from them', async () => {
    expect((await read()).addressCheck).toBe('derived')
    const { key } = keysOfVault().show('ethereum', 'm/44/60/1', '')
    const accountKeys = [1, 2].map((account) => ({
      network: 'ethereum',
      derivationPath: `m/44/60/${account}`,
      xpubHash: hashOfXpub(keysOfVault().show('ethereum', `m/44/60/${account}`, '').xpub),
    }))
    expect(await records('vault.locked')).toEqual([{ details: { walletKey: key, accountKeys } }])
    wallet.requests.length = 0
    const made = [await make(), await make()]
    expect(made.map(({ address }) => address)).toEqual(['m/44/60/1/0', 'm/44/60/1/1'].map(keysOfVault().address))
    // The keys are pinned, so the wallet service is not asked for them again.
    expect(requestsTo('/xpub')).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('T61 refuse any address but the derived one, and nothing is written', async () => {
    const before = await make()
    const records = await rows('select count(*)::int as n from audit_records where chain = $1', [vault.id])
    for (const lie of [
      fakeAddress('thief'),
      keysOfVault().address('m/44/60/1/7'),
      keysOfVault().address('m/44/60/2/1'),
    ]) {
      wallet.answerWithAddress = () => lie
      await expectRefused(await order(), /does not follow from its key of m\/44\/60\/1$/)
    }
    expect(await rows('select count(*)::int as n from audit_records where chain = $1', [vault.id])).toEqual(records)
    expect(await addressCount()).toBe(1)
    wallet.answerWithAddress = null
    // The path is still free.
    expect((await make()).derivationPath).toBe(before.derivationPath.replace(/0$/, '1'))
  })

  it('T61 of an account that is opened later are taken from the same wallet service only', async () => {
    const route = vault.vault.routes.find(({ code }) => code === 'purpose')
    const body = { id: 9, code: 'grants', name: 'Grants' }
    expect((await vault.admin.post(`${url()}/routes/${route!.id}/variants`, body)).status).toBe(201)
    const thief = fakeKeysOf('thief')
    wallet.keys = thief
    await expectRefused(await order('grants'), /does not show the key of m\/44\/60\/9, signed as before$/)
    // Its own key, signed by somebody else, and a foreign key under its name.
    wallet.keys = fakeKeysOf(`keys ${count}`, { signedBy: 'thief' })
    await expectRefused(await order('grants'), /signed as before$/)
    wallet.keys = {
      ...thief,
      show: (...parameters) => ({ ...thief.show(...parameters), key: keysOfVault().show(...parameters).key }),
    }
    await expectRefused(await order('grants'), /wrong key of m\/44\/60\/9: its signature is wrong$/)
    // An answer of the past, and the key of another account.
    const past = keysOfVault().show('ethereum', 'm/44/60/9', 'another challenge')
    wallet.keys = { ...keysOfVault(), show: () => past }
    await expectRefused(await order('grants'), /its signature is wrong$/)
    wallet.keys = null
    await expectRefused(await order('grants'), /does not show the key/)
    expect(await addressCount()).toBe(0)
    wallet.keys = keysOfVault()
    expect((await order('grants')).body.address).toBe(keysOfVault().address('m/44/60/9/0'))
    expect(await records('vault.account_key_pinned')).toMatchObject([
      { details: { accountKeys: [{ derivationPath: 'm/44/60/9' }] } },
    ])
    expect(await differences()).toEqual([])
  })

  it('T61 cannot be replaced by the role of the service, and a key that it adds lacks a signature', async () => {
    const { db } = test.deps
    const change = db.updateTable('vaults').set({ wallet_key: 'other' }).where('id', '=', vault.id).execute()
    await expect(change).rejects.toThrow('is pinned')
    const keys = db.updateTable('account_keys').set({ xpub: 'xpub' }).execute()
    await expect(keys).rejects.toThrow('permission denied')
    await expect(db.deleteFrom('account_keys').execute()).rejects.toThrow('permission denied')
    const network_id = vault.networks.ethereum.id
    const { xpub, signature } = fakeKeysOf('thief').show('ethereum', 'm/44/60/7', 'c')
    const forged = { vault_id: vault.id, derivation_path: 'm/44/60/7', network_id, challenge: 'c' }
    await db
      .insertInto('account_keys')
      .values({ ...forged, xpub, signature, created_at: new Date() })
      .execute()
    const route = vault.vault.routes.find(({ code }) => code === 'purpose')
    await vault.admin.post(`${url()}/routes/${route!.id}/variants`, { id: 7, code: 'forged', name: 'Forged' })
    wallet.keys = fakeKeysOf('thief')
    await expectRefused(await order('forged'), /does not show the key of m\/44\/60\/7, signed as before$/)
    expect(await differences()).toMatchObject([
      { targetType: 'vault', detail: 'its key of m/44/60/7 is not one that was recorded and signed' },
    ])
  })

  it('T61 name each address that somebody changed in the database', async () => {
    const [first, second] = [await make(), await make()]
    const thief = fakeAddress('thief of the database')
    await rows('update addresses set address = $1, address_key = lower($1) where id = $2', [thief, first.id])
    await rows('update addresses set address = $1 where id = $2', [fakeAddress('shown'), second.id])
    const detail = 'its address does not follow from the key of m/44/60/1'
    const named = [first, second].map(({ id }) => ({ vaultId: vault.id, targetType: 'address', targetId: id, detail }))
    const unlikeRecord = named.map((difference) => ({
      ...difference,
      detail: 'not as recorded: on-chain address',
    }))
    expect(await differences()).toEqual([...named, ...unlikeRecord])
    await rows(`alter table vaults disable trigger wallet_key_pinned`)
    await rows(`update vaults set wallet_key = 'other' where id = $1`, [vault.id])
    await rows(`alter table vaults enable trigger wallet_key_pinned`)
    expect((await differences()).map((difference) => difference.detail)).toContain(
      'the key of its wallet service is not the one that was recorded',
    )
    await rows(`delete from account_keys where vault_id = $1`, [vault.id])
    expect((await differences()).map((difference) => difference.detail)).toContain('its key of m/44/60/1 is gone')
  })
})

describe('T61 a wallet service at the lock', () => {
  it('T61 that signs for somebody else is refused, and the vault stays a draft', async () => {
    await openVault(honest, { isLocked: false })
    wallet.keys = {
      ...keysOfVault(),
      show: (...parameters) => ({ ...keysOfVault().show(...parameters), key: honest.show(...parameters).key }),
    }
    await expectRefused(await vault.admin.post(`${url()}/lock`), /its signature is wrong$/)
    const shown = keysOfVault()
    const other = fakeKeysOf('other')
    // Two signers for two accounts of one client.
    wallet.keys = { ...shown, show: (n, path, c) => (path.endsWith('1') ? shown : other).show(n, path, c) }
    await expectRefused(await vault.admin.post(`${url()}/lock`), /signed as before$/)
    wallet.keys = { ...shown, show: (n, _path, c) => shown.show(n, 'm/44/60/7', c) }
    await expectRefused(await vault.admin.post(`${url()}/lock`), /its signature is wrong$/)
    expect(await read()).toMatchObject({ lockedAt: null, addressCheck: 'none' })
    wallet.keys = shown
    expect((await vault.admin.post(`${url()}/lock`)).body.addressCheck).toBe('derived')
    expect((await vault.admin.post(`${url()}/lock`)).body.reason).toBe('vault_is_locked')
  })

  it('T61 is asked again when the vault changed meanwhile', async () => {
    await openVault(honest, { isLocked: false })
    const other = await startFakeWallet()
    let isFirst = true
    const shown = keysOfVault()
    wallet.keys = {
      ...shown,
      show(...parameters) {
        if (isFirst) void vault.admin.patch(url(), { walletServiceUrl: other.url, walletServiceSecret: other.secret })
        isFirst = false
        return shown.show(...parameters)
      },
    }
    wallet.delayMilliseconds = 150
    expect((await vault.admin.post(`${url()}/lock`)).body.reason).toBe('changed_concurrently')
  })

  it.each<[string, (wallet: FakeWallet) => void]>([
    ['shows no keys', () => {}],
    ['fails', (wallet) => Object.assign(wallet, { down: 'error' })],
    ['does not answer', (wallet) => Object.assign(wallet, { down: 'refused' })],
    ['answers something else', (wallet) => Object.assign(wallet, { keys: { show: () => ({ ok: true }) } })],
  ])('works as before when it %s, and binds itself when it is probed', async (_what, arrange) => {
    await openVault(null, { isLocked: false })
    arrange(wallet)
    const locked = await vault.admin.post(`${url()}/lock`)
    expect([locked.status, locked.body.addressCheck]).toEqual([200, 'none'])
    Object.assign(wallet, { down: false, keys: null })
    wallet.answerWithAddress = keysOfVault().address
    const made = await make()
    expect(made.address).toBe(keysOfVault().address('m/44/60/1/0'))
    // Keys from which the addresses of the vault do not follow bind nothing, and the vault still works.
    wallet.keys = honest
    const secret = { walletServiceSecret: wallet.secret }
    const other = await vault.admin.patch(url(), secret)
    expect([other.status, other.body.addressCheck, await checks()]).toEqual([200, 'none', { ethereum: 'none' }])
    expect(await rows('select 1 from account_keys where vault_id = $1', [vault.id])).toEqual([])
    wallet.keys = keysOfVault()
    const bound = await vault.admin.patch(url(), secret)
    expect([bound.status, bound.body.addressCheck]).toEqual([200, 'derived'])
    wallet.answerWithAddress = () => fakeAddress('thief')
    await expectRefused(await order(), /does not follow/)
    expect(await differences()).toEqual([])
  })
})

describe('T61 the networks of a vault', () => {
  const variants = (names: [number, string][]) => names.map(([id, code]) => ({ id, code, name: code }))
  const routes = {
    network: {
      order: 0,
      name: 'Network',
      variants: variants([
        [60, 'ethereum'],
        [0, 'bitcoin'],
        [2, 'litecoin'],
        [501, 'solana'],
      ]),
    },
    purpose: { order: 1, name: 'Purpose', variants: variants([[1, 'ops']]) },
    index: { order: 2, name: 'Index', dynamic: true },
  }
  const orderOn = (network: string) => vault.admin.post(`${url()}/addresses`, { network, segments: { purpose: 'ops' } })
  const secret = () => ({ walletServiceSecret: wallet.secret })
  const unchecked = { ethereum: 'none', bitcoin: 'none', litecoin: 'none', solana: 'none' }
  /** The wallet service of an earlier version: it shows a key of every network, and names no script. */
  const withoutScript = (keys: typeof honest): typeof honest => ({
    ...keys,
    show: (network, path, challenge) => keys.show(network, path, challenge, undefined, null),
  })

  it('T61 are checked where addresses follow from keys, and each address is derived', async () => {
    await openVault(honest, { routes })
    expect(await checks()).toEqual({ ...unchecked, ethereum: 'derived', bitcoin: 'derived', litecoin: 'derived' })
    for (const [network, coinType] of [
      ['bitcoin', 0],
      ['litecoin', 2],
    ] as const) {
      const path = `m/44/${coinType}/1/0`
      for (const lie of [fakeKeysOf('thief').address(path), keysOfVault().address(`m/44/${coinType}/1/7`)]) {
        wallet.answerWithAddress = () => lie
        await expectRefused(await orderOn(network), new RegExp(`does not follow from its key of m/44/${coinType}/1$`))
      }
      wallet.answerWithAddress = null
      expect((await orderOn(network)).body).toMatchObject({
        derivationPath: path,
        address: keysOfVault().address(path),
      })
    }
    expect(await differences()).toEqual([])
    await rows(
      `update addresses set address = $1, address_key = $1 where vault_id = $2 and derivation_path = 'm/44/2/1/0'`,
      [fakeKeysOf('thief').address('m/44/2/1/0'), vault.id],
    )
    expect((await differences())[0]?.detail).toBe('its address does not follow from the key of m/44/2/1')
  })

  it('T61 of which the wallet service shows no script stay unchecked, until it does', async () => {
    await openVault(null, { routes, isLocked: false })
    wallet.keys = withoutScript(keysOfVault())
    await vault.admin.post(`${url()}/lock`)
    expect(await checks()).toEqual({ ...unchecked, ethereum: 'derived' })
    // An older wallet service may derive addresses of another script.
    wallet.answerWithAddress = () => 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    expect((await orderOn('bitcoin')).status).toBe(201)
    wallet.answerWithAddress = null
    expect((await vault.admin.patch(url(), secret())).body.reason).toBe('wallet_differs')
    wallet.answerWithAddress = (path) =>
      path.startsWith('m/44/0/') ? 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' : keysOfVault().address(path)
    wallet.keys = keysOfVault()
    // The address that exists does not follow: its network stays as it is, and nobody is locked out.
    expect((await vault.admin.patch(url(), secret())).status).toBe(200)
    expect(await checks()).toEqual({ ...unchecked, ethereum: 'derived', litecoin: 'derived' })
    wallet.answerWithAddress = null
    expect((await orderOn('bitcoin')).status).toBe(201)
    expect(await differences()).toEqual([])
  })

  it('T61 that are bound stay bound: no other script, no other key and no silence unbind them', async () => {
    await openVault(honest, { routes })
    const made = (await orderOn('bitcoin')).body.address
    expect(made).toBe(keysOfVault().address('m/44/0/1/0'))
    for (const keys of [withoutScript(keysOfVault()), honest, null]) {
      wallet.keys = keys
      wallet.answerWithAddress = keysOfVault().address
      expect((await vault.admin.patch(url(), secret())).body.reason).toBe('wallet_differs')
    }
    const { db } = test.deps
    const update = db.updateTable('vault_networks').set({ address_check: 'none' }).where('vault_id', '=', vault.id)
    await expect(update.execute()).rejects.toThrow('follow from pinned keys')
    const removal = db.deleteFrom('vault_networks').where('vault_id', '=', vault.id)
    await expect(removal.execute()).rejects.toThrow('follow from pinned keys')
    await rows('alter table vault_networks disable trigger address_check_kept')
    await rows(`update vault_networks set address_check = 'none' where vault_id = $1`, [vault.id])
    await rows('alter table vault_networks enable trigger address_check_kept')
    expect((await differences()).map(({ detail }) => detail).sort()).toEqual(
      ['bitcoin', 'ethereum', 'litecoin'].map((network) => `addresses of its network ${network} are no longer checked`),
    )
  })

  it.each([
    ['refuses them', 400],
    ['does not know them', 404],
    ['fails', 500],
  ])('T61 of which a wallet service with keys %s stay unchecked', async (_what, status) => {
    await openVault(honest, { routes, isLocked: false })
    wallet.answerKeysWith = (network) => (network === 'bitcoin' ? status : null)
    expect((await vault.admin.post(`${url()}/lock`)).status).toBe(200)
    expect(await checks()).toEqual({ ...unchecked, ethereum: 'derived', litecoin: 'derived' })
  })

  it('T61 about which a wallet service with keys is silent keep the vault a draft', async () => {
    await openVault(honest, { routes, isLocked: false })
    wallet.answerKeysWith = (network) => (network === 'bitcoin' ? 'silence' : null)
    await expectRefused(await vault.admin.post(`${url()}/lock`), /did not answer in time$/)
    expect(await read()).toMatchObject({ lockedAt: null, addressCheck: 'none' })
    wallet.answerKeysWith = null
    expect((await vault.admin.post(`${url()}/lock`)).status).toBe(200)
  })
})

describe('T61 a new wallet service of a vault with keys', () => {
  let moved: FakeWallet
  beforeEach(async () => {
    await openVault(honest)
    moved = await startFakeWallet()
    moved.keys = keysOfVault()
  })
  const move = () => vault.admin.patch(url(), { walletServiceUrl: moved.url, walletServiceSecret: moved.secret })

  it.each([true, false])(
    'T61 must show the same keys, signed by the same key (addresses: %s)',
    async (hasAddresses) => {
      if (hasAddresses) for (let index = 0; index < 3; index += 1) await make()
      for (const keys of [null, honest, fakeKeysOf(`keys ${count}`, { signedBy: 'thief' })]) {
        moved.keys = keys
        // Every address is right, because anybody with the keys of the accounts can derive the addresses.
        moved.answerWithAddress = keysOfVault().address
        const answer = await move()
        expect([answer.status, answer.body.reason], JSON.stringify(answer.body)).toEqual([409, 'wallet_differs'])
      }
      expect((await read()).walletServiceUrl).toBe(wallet.url)
      expect(await records('vault.wallet_refused')).toHaveLength(3)
      moved.keys = keysOfVault()
      expect((await move()).body).toMatchObject({ walletServiceUrl: moved.url, addressCheck: 'derived' })
      wallet = moved
      moved.answerWithAddress = null
      await make()
      expect(await differences()).toEqual([])
    },
  )

  it('T61 is refused with one other key of an account, or one other address', async () => {
    await make()
    const [same, other] = [keysOfVault(), fakeKeysOf('other', { signedBy: `keys ${count}` })]
    moved.answerWithAddress = same.address
    moved.keys = { ...same, show: (n, path, c) => (path.endsWith('2') ? other : same).show(n, path, c) }
    const answer = await move()
    expect(answer.body).toMatchObject({ reason: 'wallet_differs', message: expect.stringContaining('m/44/60/2') })
    moved.keys = same
    moved.answerWithAddress = () => fakeAddress('thief')
    expect((await move()).body.reason).toBe('wallet_differs')
    await moved.close()
    expect((await move()).body.reason).toBe('wallet_service_silent')
  })
})

it('T61 an account of each address keeps no public key that others follow from, and is checked all the same', async () => {
  const routes = {
    network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
    index: { order: 1, name: 'Index', dynamic: true },
  }
  await openVault(honest, { routes })
  const body = { network: 'ethereum', segments: {} }
  for (const index of [0, 1, 2]) {
    const answer = await vault.admin.post(`${url()}/addresses`, body)
    expect(answer.body).toMatchObject({
      derivationPath: `m/44/60/${index}`,
      address: keysOfVault().address(`m/44/60/${index}`),
    })
  }
  wallet.answerWithAddress = () => keysOfVault().address('m/44/60/9')
  await expectRefused(
    await vault.admin.post(`${url()}/addresses`, body),
    /does not follow from its key of m\/44\/60\/3$/,
  )
  expect(await differences()).toEqual([])
})
