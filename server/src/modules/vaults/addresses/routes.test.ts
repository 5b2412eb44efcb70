import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { patiently } from '../../../testing/patiently.ts'
import { forbiddenWallet } from '../../registry/wallet-service/call.ts'

let test: TestApp
let vault: VaultFixture
let owner: Person
let other: Person

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  await allowAll(vault, 'create_address')
  owner = await addMember(test, vault, 'treasurer@example.org')
  other = await addMember(test, vault, 'payroll@example.org')
})
afterAll(() => test.close())

const addresses = '/vaults/main-vault/addresses'
const ops = { network: 'ethereum', segments: { purpose: 'ops' } }
const payroll = { network: 'ethereum', segments: { purpose: 'payroll' } }

/** Gives an address ledger accounts, as the books do at the first use of a token. */
async function putAccounts(addressId: string, tokenId: string, available: string, reserved: string): Promise<void> {
  for (const [purpose, balance] of [
    ['available', available],
    ['reserved', reserved],
  ] as const) {
    await test.deps.db
      .insertInto('ledger_accounts')
      .values({
        vault_id: vault.id,
        id: newId(test.clock.now()),
        token_id: tokenId,
        address_id: addressId,
        purpose,
        balance,
        created_at: test.clock.now(),
      })
      .execute()
  }
}

async function countAddresses(): Promise<number> {
  const { count } = await test.deps.db
    .selectFrom('addresses')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

describe('creating addresses', () => {
  it('takes the next index under its prefix and asks the wallet service for that path', async () => {
    const first = await owner.post(addresses, {
      ...ops,
      label: 'Working capital',
      description: 'Day to day',
      tags: ['eu'],
      color: '#1d4ed8',
      emoji: '🏦',
      logoUri: 'https://example.org/logo.png',
    })
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({
      address: fakeAddress(`${vault.wallet.secret}m/44/60/1/0`),
      derivationPath: 'm/44/60/1/0',
      network: 'ethereum',
      pathIndex: 0,
      segmentsJson: { purpose: 1 },
      label: 'Working capital',
      tagsJson: ['eu'],
      balance: '0',
      balanceDecimal: '0',
      balances: [],
      tokenId: vault.tokens.eth.id,
      asset: 'ETH',
      assetName: 'Ether',
      assetSymbol: 'ETH',
      owner: { id: owner.userId, name: 'treasurer', username: null, image: null, color: null, emoji: null },
      access: { isOwner: true, isAdmin: false, canView: true, canTransfer: true },
    })
    expect((await owner.post(addresses, ops)).body.derivationPath).toBe('m/44/60/1/1')
    expect((await owner.post(addresses, payroll)).body.derivationPath).toBe('m/44/60/2/0')
    const order = vault.wallet.requests.at(-1)!
    expect(order).toMatchObject({
      method: 'POST',
      path: '/addresses',
      body: { network: 'ethereum', coinType: 60, derivationPath: 'm/44/60/2/0' },
    })
    expect(order.headers.authorization).toBe(`Bearer ${vault.wallet.secret}`)
  })

  it('takes the named token, or else the token of the chosen variant', async () => {
    expect((await owner.post(addresses, { ...ops, token: 'USDT' })).body.asset).toBe('USDT')
    const variant = vault.vault.routes[0]!.variants[1]
    await vault.admin.patch(`/vaults/main-vault/variants/${variant!.id}`, { token: 'USDT' })
    expect((await owner.post(addresses, payroll)).body.asset).toBe('USDT')
    expect((await owner.post(addresses, { ...payroll, token: 'ETH' })).body.asset).toBe('ETH')
    await vault.admin.patch(`/vaults/main-vault/variants/${variant!.id}`, { token: null })
  })

  it('leaves an audit record and the same answer for the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'address-1' }
    const first = await owner.post(addresses, ops, key)
    const before = await countAddresses()
    const again = await owner.post(addresses, ops, key)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await countAddresses()).toBe(before)
    const record = await test.deps.db
      .selectFrom('audit_records')
      .selectAll()
      .where('target_id', '=', first.body.id)
      .executeTakeFirstOrThrow()
    expect(record).toMatchObject({ action: 'address.created', chain: vault.id, actor_id: owner.userId })
  })

  it('replays an answer even while the wallet service is down', async () => {
    const key = { 'idempotency-key': 'address-2' }
    const first = await owner.post(addresses, ops, key)
    vault.wallet.down = 'error'
    const again = await owner.post(addresses, ops, key)
    vault.wallet.down = false
    expect(again.status).toBe(201)
    expect(again.body).toEqual(first.body)
  })

  it('gives 50 concurrent creations the indexes 0 to 49', async () => {
    const busy = await createVaultFixture(test, { code: 'busy-vault' })
    await allowAll(busy, 'create_address')
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => patiently(() => busy.admin.post('/vaults/busy-vault/addresses', ops))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201))
    const indexes = answers.map(({ body }) => body.pathIndex as number).sort((a, b) => a - b)
    expect(indexes).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(new Set(answers.map(({ body }) => body.address)).size).toBe(50)
  })

  it('moves on when another node took the index meanwhile', async () => {
    const code = 'two-nodes'
    const contested = await createVaultFixture(test, { code })
    await allowAll(contested, 'create_address')
    let isTaken = false
    // The honest address is answered, but only after another node has stored it.
    contested.wallet.answerWithAddress = (path) => {
      const address = fakeAddress(contested.wallet.secret + path)
      if (isTaken) return address
      isTaken = true
      return test.deps.db
        .insertInto('addresses')
        .values({
          vault_id: contested.id,
          id: newId(test.clock.now()),
          network_id: contested.networks.ethereum.id,
          address,
          address_key: address.toLowerCase(),
          derivation_path: path,
          static_prefix: 'm/44/60/1',
          path_index: 0,
          segments: '{}',
          owner_id: contested.admin.userId,
          created_at: test.clock.now(),
          updated_at: test.clock.now(),
        })
        .execute()
        .then(() => address)
    }
    const answer = await contested.admin.post(`/vaults/${code}/addresses`, ops)
    expect(answer.status).toBe(201)
    expect(answer.body.pathIndex).toBe(1)
  })

  it('has one address per combination in a vault without a dynamic route', async () => {
    const { index: _, ...routes } = fixtureRoutes
    const fixed = await createVaultFixture(test, { code: 'fixed-vault', routes })
    await allowAll(fixed, 'create_address')
    const key = { 'idempotency-key': 'fixed-1' }
    const first = await fixed.admin.post('/vaults/fixed-vault/addresses', ops, key)
    expect(first.body).toMatchObject({ derivationPath: 'm/44/60/1', pathIndex: 0, segmentsJson: { purpose: 1 } })
    expect((await fixed.admin.post('/vaults/fixed-vault/addresses', ops)).status).toBe(409)
    expect((await fixed.admin.post('/vaults/fixed-vault/addresses', ops, key)).body).toEqual(first.body)
    expect((await fixed.admin.post('/vaults/fixed-vault/addresses', payroll)).status).toBe(201)
  })
})

describe('refused creations', () => {
  it.each([
    ['an unknown network', { ...ops, network: 'bitcoin' }, 'network'],
    ['an unknown variant', { ...ops, segments: { purpose: 'nothing' } }, 'segments.purpose'],
    ['a missing segment', { ...ops, segments: {} }, 'segments.purpose'],
    ['an unknown segment', { ...ops, segments: { purpose: 'ops', region: 'eu' } }, 'segments.region'],
    ['the dynamic segment', { ...ops, segments: { purpose: 'ops', index: '7' } }, 'segments.index'],
    [
      'a segment named like an object member',
      { ...ops, segments: { purpose: 'ops', toString: 'x' } },
      'segments.toString',
    ],
    ['an unknown token', { ...ops, token: 'DOGE' }, 'token'],
    ['an unknown field', { ...ops, owner: 'me' }, 'owner'],
    ['a number as label', { ...ops, label: 1 }, 'label'],
  ])('answers 400 for %s', async (_, body, field) => {
    const answer = await owner.post(addresses, body)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })

  it('answers 409 for a disabled variant, a disabled token and a draft', async () => {
    const variant = vault.vault.routes[0]!.variants[1]
    await vault.admin.patch(`/vaults/main-vault/variants/${variant!.id}`, { enabled: false })
    expect((await owner.post(addresses, payroll)).status).toBe(409)
    await vault.admin.patch(`/vaults/main-vault/variants/${variant!.id}`, { enabled: true })

    await vault.admin.patch(`/tokens/${vault.tokens.usdt.id}`, { enabled: false })
    expect((await owner.post(addresses, { ...ops, token: 'USDT' })).status).toBe(409)
    await vault.admin.patch(`/tokens/${vault.tokens.usdt.id}`, { enabled: true })

    const draft = await createVaultFixture(test, { code: 'draft-vault', isLocked: false })
    await allowAll(draft, 'create_address')
    expect((await draft.admin.post('/vaults/draft-vault/addresses', ops)).status).toBe(409)
  })

  it('answers 502 for a failing wallet service, stores nothing, and the retry takes the same index', async () => {
    const before = await countAddresses()
    const next = (await owner.post(addresses, ops)).body.pathIndex + 1
    for (const down of ['error', 'refused'] as const) {
      vault.wallet.down = down
      const answer = await owner.post(addresses, ops)
      expect(answer.status).toBe(502)
      expect(JSON.stringify(answer.body)).not.toContain(vault.wallet.url)
    }
    vault.wallet.down = false
    expect(await countAddresses()).toBe(before + 1)
    expect((await owner.post(addresses, ops)).body.pathIndex).toBe(next)
  })

  it('T54 answers 60 creations within seconds while the wallet service hangs, and holds up no other prefix or vault', async () => {
    const next = (await owner.post(addresses, ops)).body.pathIndex + 1
    const before = await countAddresses()
    vault.wallet.answerWithAddress = (path) =>
      path.startsWith('m/44/60/1/') ? new Promise(() => {}) : fakeAddress(vault.wallet.secret + path)
    const answers = Promise.all(Array.from({ length: 60 }, () => owner.post(addresses, ops)))
    const spared = await createVaultFixture(test, { code: 'spared-vault', adminEmail: 'spared@example.org' })
    await allowAll(spared, 'create_address')
    expect((await owner.post(addresses, payroll)).status).toBe(201)
    expect((await spared.admin.post('/vaults/spared-vault/addresses', ops)).status).toBe(201)

    const refused = (await answers).filter(({ status }) => status !== 502)
    // The waiting creations were refused when the first one failed: none asked the wallet service or waited until its turn expired.
    expect(refused).toHaveLength(59)
    for (const { status, headers, body } of refused) {
      expect([status, headers['retry-after'], body.message]).toEqual([
        503,
        '5',
        'The wallet service does not answer right now',
      ])
    }

    vault.wallet.answerWithAddress = null
    expect(await countAddresses()).toBe(before + 2)
    expect((await owner.post(addresses, ops)).body.pathIndex).toBe(next)
  })

  it('T18 answers 502 for an address with a wrong checksum, of another form, or of another path', async () => {
    const before = await countAddresses()
    const known = (await owner.get(`${addresses}?limit=1`)).body.items[0]!.address as string
    const wrongCase = known
      .replace(/[a-f]/, (digit) => digit.toUpperCase())
      .replace(/[A-F](?=[^A-F]*$)/, (digit) => digit.toLowerCase())
    for (const lie of [
      wrongCase,
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      '0x12',
      known,
      known.toLowerCase(),
      7,
      null,
      { a: 1 },
    ]) {
      vault.wallet.answerWithAddress = () => lie
      expect((await owner.post(addresses, ops)).status).toBe(502)
    }
    vault.wallet.answerWithAddress = null
    expect(await countAddresses()).toBe(before)
  })

  it('T49 answers 502 when walletServiceUrl leads into a private network', async () => {
    const code = 'metadata-vault'
    const lured = await createVaultFixture(test, { code })
    await allowAll(lured, 'create_address')
    for (const url of ['http://169.254.169.254/latest', 'http://10.0.0.1:8080', 'http://[fd00::1]']) {
      await lured.admin.patch(`/vaults/${code}`, { walletServiceUrl: url, walletServiceSecret: null })
      const answer = await lured.admin.post(`/vaults/${code}/addresses`, ops)
      expect(answer.status).toBe(502)
      expect(answer.body.message).toBe(forbiddenWallet)
    }
  })

  it('answers 403 to every caller without an allow policy, and records the refusal', async () => {
    const strict = await createVaultFixture(test, { code: 'strict-vault' })
    const answer = await strict.admin.post('/vaults/strict-vault/addresses', ops)
    expect(answer.status).toBe(403)
    expect(strict.wallet.requests).toEqual([])
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select('action')
      .where('chain', '=', strict.id)
      .where('action', '=', 'action.refused')
      .execute()
    expect(records).toHaveLength(1)
  })

  it('answers 403 with the reason of a block policy', async () => {
    const blocked = await createVaultFixture(test, { code: 'blocked-vault' })
    await allowAll(blocked, 'create_address')
    await createPolicy(blocked, {
      code: 'freeze',
      name: 'Freeze',
      actionType: 'create_address',
      effect: 'block',
      blockReason: 'Audit week',
    })
    const answer = await blocked.admin.post('/vaults/blocked-vault/addresses', ops)
    expect(answer.status).toBe(403)
    expect(answer.body.message).toContain('Audit week')
  })
})

describe('reading addresses', () => {
  it('shows available and reserved per token that has accounts, exactly', async () => {
    const address = await createAddress(owner, { token: 'USDT' })
    await putAccounts(address.id, vault.tokens.usdt.id, '1500000', '250000')
    const huge = '115792089237316195423570985008687907853269984665640564039457584007913129639935'
    await putAccounts(address.id, vault.tokens.eth.id, huge, '0')
    const { body } = await owner.get(`${addresses}/${address.id}`)
    expect(body).toMatchObject({ balance: '1750000', balanceDecimal: '1.75' })
    expect(body.balances).toEqual([
      {
        tokenId: vault.tokens.eth.id,
        asset: 'ETH',
        symbol: 'ETH',
        decimals: 18,
        available: huge,
        availableDecimal: `${huge.slice(0, -18)}.${huge.slice(-18)}`,
        reserved: '0',
        reservedDecimal: '0',
        exposure: '0',
        exposureDecimal: '0',
      },
      {
        tokenId: vault.tokens.usdt.id,
        asset: 'USDT',
        symbol: 'USDT',
        decimals: 6,
        available: '1500000',
        availableDecimal: '1.5',
        reserved: '250000',
        reservedDecimal: '0.25',
        exposure: '0',
        exposureDecimal: '0',
      },
    ])
  })

  it('pages through all, newest first, without gap or repetition', async () => {
    const all = (await owner.get(`${addresses}?limit=100`)).body.items.map(({ id }) => id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await owner.get(`${addresses}?limit=3${query}`)
      seen.push(...body.items.map(({ id }) => id))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(all)
    expect(new Set(seen).size).toBe(all.length)
  })

  it('filters by token, and searches address and label for the exact text', async () => {
    const labelled = await createAddress(owner, { label: '100%_safe\\here' })
    await createAddress(owner, { label: '100 safe' })
    const idsFor = async (query: string) => (await owner.get(`${addresses}?${query}`)).body.items.map(({ id }) => id)
    expect(await idsFor(`search=${encodeURIComponent('%_SAFE\\h')}`)).toEqual([labelled.id])
    expect(await idsFor(`search=${labelled.address.slice(4, 20).toLowerCase()}`)).toEqual([labelled.id])
    expect(await idsFor(`search=${encodeURIComponent("' or true --")}`)).toEqual([])
    const withUsdt = (await owner.get(`${addresses}?token=USDT&limit=100`)).body.items
    expect(withUsdt.length).toBeGreaterThan(0)
    expect(withUsdt.every(({ asset }) => asset === 'USDT')).toBe(true)
  })

  it('shows members their own and administrators all, narrowed by userId', async () => {
    const mine = await createAddress(other)
    const seen = (await other.get(addresses)).body.items
    expect(seen.map(({ id }) => id)).toEqual([mine.id])
    const all = (await vault.admin.get(`${addresses}?limit=100`)).body.items
    expect(all.length).toBeGreaterThan(seen.length)
    expect(all[0]!.access).toEqual({ isOwner: false, isAdmin: true, canView: true, canTransfer: false })
    const narrowed = (await vault.admin.get(`${addresses}?userId=${other.userId}`)).body.items
    expect(narrowed.map(({ id }) => id)).toEqual([mine.id])
    expect((await other.get(`${addresses}?userId=${other.userId}`)).status).toBe(200)
    expect((await other.get(`${addresses}?userId=${owner.userId}`)).status).toBe(403)
  })

  it.each(['folder=x', 'acces=own', 'access=mine', 'limit=0', 'limit=101', 'cursor=nonsense'])(
    'answers 400 for ?%s',
    async (query) => {
      expect((await owner.get(`${addresses}?${query}`)).status).toBe(400)
    },
  )
})

describe('changing addresses', () => {
  it('changes the fields of the body, clears by null and leaves the rest', async () => {
    const address = await createAddress(owner, { label: 'Before' })
    const changed = await owner.patch(`${addresses}/${address.id}`, {
      label: 'After',
      tags: ['a', 'b'],
      color: '#fff',
      emoji: '🧾',
      logoUri: 'https://example.org/x.png',
    })
    expect(changed.body).toEqual({
      ...address,
      label: 'After',
      tagsJson: ['a', 'b'],
      color: '#fff',
      emoji: '🧾',
      logoUri: 'https://example.org/x.png',
    })
    const cleared = await owner.patch(`${addresses}/${address.id}`, {
      color: null,
      emoji: null,
      logoUri: null,
      label: null,
    })
    expect(cleared.body).toEqual({ ...address, label: null, tagsJson: ['a', 'b'] })
  })

  it.each(['address', 'balance', 'derivationPath', 'ownerId', 'tokenId', 'vaultId'])(
    'T41 answers 400 for a change of %s',
    async (field) => {
      const address = (await owner.get(`${addresses}?limit=1`)).body.items[0]
      const answer = await owner.patch(`${addresses}/${address!.id}`, { [field]: 'x' })
      expect(answer.status).toBe(400)
      expect(answer.body.details[0]!.field).toBe(field)
      expect((await owner.get(`${addresses}/${address!.id}`)).body).toEqual(address)
    },
  )
})

describe('permissions', () => {
  it('T41 answers 404 to a change by anyone but the owner, administrators included', async () => {
    const address = await createAddress(owner)
    const missing = await owner.patch(`${addresses}/${newId()}`, { label: 'x' })
    for (const person of [other, vault.admin]) {
      const answer = await person.patch(`${addresses}/${address.id}`, { label: 'taken' })
      expect(answer.status).toBe(404)
      expect({ ...answer.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' })
    }
    expect((await owner.get(`${addresses}/${address.id}`)).body.label).toBeNull()
  })
})
