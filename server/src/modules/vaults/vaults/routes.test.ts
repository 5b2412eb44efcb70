import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { addMember, createVaultFixture, fixtureRoutes, type VaultFixture } from '../../../testing/fixtures.ts'
import { openSecret } from '../wallets/wallet-settings.ts'

let test: TestApp
let vault: VaultFixture
let operator: Person
let member: Person
let stranger: Person

beforeAll(async () => {
  test = await createTestApp()
  vault = await createVaultFixture(test)
  operator = vault.admin
  member = await addMember(test, vault, 'treasurer@example.org')
  stranger = await test.signIn('stranger@example.org')
})
afterAll(() => test.close())

const head = (code: string) => ({ code, name: 'A vault', walletServiceUrl: 'https://wallet.example.org' })

async function createDraft(code: string, routes: object = fixtureRoutes) {
  const answer = await operator.post('/vaults', { vault: head(code), routes })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** In alphabetical order, because ids of one millisecond have no defined order. */
async function auditActions(vaultId: string): Promise<string[]> {
  const records = await test.deps.db
    .selectFrom('audit_records')
    .select('action')
    .where('chain', '=', vaultId)
    .orderBy('action')
    .execute()
  return records.map(({ action }) => action)
}

describe('creating a vault', () => {
  it('makes a draft with networks, routes renumbered from 0, and the built-in groups', async () => {
    const created = await operator.post('/vaults', {
      vault: { ...head('created-vault'), description: 'For the treasury' },
      routes: {
        index: { order: 40, name: 'Index', dynamic: true },
        network: fixtureRoutes.network,
        purpose: {
          order: 30,
          name: 'Purpose',
          description: 'What it is for',
          variants: [
            { id: 7, code: 'ops', name: 'Operations', token: 'USDT' },
            { id: 3, code: 'old', name: 'Old', description: 'No more', enabled: false },
          ],
        },
      },
    })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      code: 'created-vault',
      description: 'For the treasury',
      lockedAt: null,
      walletServiceUrl: 'https://wallet.example.org',
      networks: [{ coinType: 60, slug: 'ethereum', type: 'evm' }],
      routes: [
        {
          code: 'purpose',
          order: 0,
          dynamic: false,
          description: 'What it is for',
          vaultId: created.body.id,
          variants: [
            { pathId: 3, code: 'old', enabled: false, description: 'No more', tokenId: null },
            { pathId: 7, code: 'ops', enabled: true, description: null, tokenId: vault.tokens.usdt.id },
          ],
        },
        { code: 'index', order: 1, dynamic: true, variants: [] },
      ],
    })
    expect((await operator.get('/vaults/created-vault')).body).toEqual(created.body)
    expect(await auditActions(created.body.id)).toEqual(['vault.created'])
    const groups = await test.deps.db
      .selectFrom('policy_groups')
      .leftJoin('policy_group_memberships', 'policy_group_memberships.group_id', 'policy_groups.id')
      .select(['code', 'is_system', 'user_id'])
      .where('policy_groups.vault_id', '=', created.body.id)
      .orderBy('code')
      .execute()
    expect(groups).toEqual([
      { code: 'administrators', is_system: true, user_id: operator.userId },
      { code: 'auditors', is_system: true, user_id: null },
      { code: 'everyone', is_system: true, user_id: null },
    ])
  })

  it('connects a known network as it is and never changes it, at creation or when a draft is replaced', async () => {
    const registry = async () => (await operator.get('/networks?limit=100')).body.items
    const before = await registry()
    const { ethereum } = vault.networks
    const variants = [{ id: 60, code: 'ETH1', name: 'Renamed', description: 'Changed' }]
    const routes = { network: { order: 0, name: 'Network', variants } }
    const { networks } = await createDraft('renaming-vault', routes)
    expect(networks).toEqual([ethereum])
    const replaced = await operator.put('/vaults/renaming-vault/routes', { routes })
    expect([replaced.status, replaced.body.networks]).toEqual([200, [ethereum]])
    expect(await registry()).toEqual(before)
    expect((await operator.get('/vaults/main-vault')).body.networks).toContainEqual(ethereum)
  })

  it('refuses a known network under the code of another one', async () => {
    const routesOf = (...variants: object[]) => ({ routes: { network: { order: 0, name: 'Network', variants } } })
    const litecoin = { id: 2, code: 'litecoin', name: 'Litecoin' }
    await createDraft('contradicting-vault', routesOf(litecoin).routes)
    const contradiction = routesOf({ id: 0, code: 'bitcoin', name: 'Bitcoin' }, { ...litecoin, id: 60 })
    for (const answer of [
      await operator.put('/vaults/contradicting-vault/routes', contradiction),
      await operator.post('/vaults', { vault: head('x-1'), ...contradiction }),
    ]) {
      expect([answer.status, answer.body.details]).toEqual([
        400,
        [{ field: 'routes.network.variants.1.code', message: 'is the code of a network with another coin type' }],
      ])
    }
  })

  it('creates the same new network for two vaults at once', async () => {
    const network = {
      order: 0,
      name: 'Network',
      variants: [
        { id: 501, code: 'solana', name: 'Solana' },
        { id: 195, code: 'tron', name: 'Tron' },
      ],
    }
    const reversed = { ...network, variants: network.variants.toReversed() }
    const vaults = await Promise.all(
      [1, 2, 3, 4].map((i) => createDraft(`parallel-${i}`, { network: i % 2 === 0 ? network : reversed })),
    )
    const ids = vaults.map(({ networks }) => networks.map(({ id }) => id).sort())
    expect(new Set(ids.map(String)).size).toBe(1)
  })

  it('gives the stored answer for the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'vault-1' }
    const body = { vault: head('idempotent-vault'), routes: fixtureRoutes }
    const first = await operator.post('/vaults', body, key)
    expect((await operator.post('/vaults', body, key)).body).toEqual(first.body)
    expect((await operator.post('/vaults', { ...body, vault: head('another') }, key)).status).toBe(409)
  })

  it('answers 409 for a taken code, and nothing of the second remains', async () => {
    const network = { order: 0, name: 'Network', variants: [{ id: 777, code: 'btv', name: 'Bitvote' }] }
    expect((await operator.post('/vaults', { vault: head('main-vault'), routes: { network } })).status).toBe(409)
    const { items } = (await operator.get('/networks?limit=100')).body
    expect(items.some(({ coinType }) => coinType === 777)).toBe(false)
  })

  const routes = fixtureRoutes
  it.each([
    ['no vault', { routes }, 'vault'],
    ['no routes', { vault: head('x-1') }, 'routes'],
    ['no network route', { vault: head('x-1'), routes: { purpose: routes.purpose } }, 'routes.network'],
    ['an upper-case code', { vault: head('Upper'), routes }, 'vault.code'],
    ['a one-letter code', { vault: head('x'), routes }, 'vault.code'],
    ['a blank name', { vault: { ...head('x-1'), name: ' ' }, routes }, 'vault.name'],
    [
      'a file as wallet',
      { vault: { ...head('x-1'), walletServiceUrl: 'file:///etc/passwd' }, routes },
      'vault.walletServiceUrl',
    ],
    [
      'credentials in the URL',
      { vault: { ...head('x-1'), walletServiceUrl: 'https://a:b@example.org' }, routes },
      'vault.walletServiceUrl',
    ],
    [
      'a short secret',
      { vault: { ...head('x-1'), walletServiceSecret: 'short' }, routes },
      'vault.walletServiceSecret',
    ],
    [
      'a secret with a line break',
      { vault: { ...head('x-1'), walletServiceSecret: `${'s'.repeat(20)}\r\nx: y` }, routes },
      'vault.walletServiceSecret',
    ],
    [
      'no question at all',
      { vault: { ...head('x-1'), walletQuestionsPerSecond: 0 }, routes },
      'vault.walletQuestionsPerSecond',
    ],
    [
      'an unknown token',
      {
        vault: head('x-1'),
        routes: {
          ...routes,
          purpose: { ...routes.purpose, variants: [{ id: 1, code: 'a', name: 'A', token: 'DOGE' }] },
        },
      },
      'routes.purpose.variants.0.token',
    ],
    [
      'a negative variant',
      {
        vault: head('x-1'),
        routes: { ...routes, purpose: { ...routes.purpose, variants: [{ id: -1, code: 'a', name: 'A' }] } },
      },
      'routes.purpose.variants.0.id',
    ],
    [
      'a variant out of range',
      {
        vault: head('x-1'),
        routes: { ...routes, purpose: { ...routes.purpose, variants: [{ id: 2_147_483_648, code: 'a', name: 'A' }] } },
      },
      'routes.purpose.variants.0.id',
    ],
    [
      'an order as text',
      { vault: head('x-1'), routes: { ...routes, index: { ...routes.index, order: '2' } } },
      'routes.index.order',
    ],
    [
      'a slug of another coin type',
      {
        vault: head('x-1'),
        routes: { network: { ...routes.network, variants: [{ id: 61, code: 'Ethereum', name: 'Classic' }] } },
      },
      'routes.network.variants.0.code',
    ],
    [
      'T41 a lock at creation',
      { vault: { ...head('x-1'), lockedAt: '2026-01-01T00:00:00.000Z' }, routes },
      'vault.lockedAt',
    ],
  ])('answers 400 for %s', async (_, body, field) => {
    const answer = await operator.post('/vaults', body)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })

  it('answers 400 for a token code that several networks have', async () => {
    const network = {
      order: 0,
      name: 'Network',
      variants: [...fixtureRoutes.network.variants, { id: 195, code: 'tron', name: 'Tron' }],
    }
    const token = {
      network: 'tron',
      code: 'USDT',
      symbol: 'USDT',
      name: 'Tether',
      contractAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      decimals: 6,
    }
    expect((await operator.post('/tokens', token)).status).toBe(201)
    const purpose = { ...fixtureRoutes.purpose, variants: [{ id: 1, code: 'a', name: 'A', token: 'USDT' }] }
    const answer = await operator.post('/vaults', { vault: head('x-1'), routes: { network, purpose } })
    expect(answer.status).toBe(400)
    expect(answer.body.details).toEqual([
      {
        field: 'routes.purpose.variants.0.token',
        message: 'is a token of several networks of this vault: ethereum, tron',
      },
    ])
  })
})

describe('a draft and its lock', () => {
  it('replaces the whole structure of a draft, locks once, and refuses from then on', async () => {
    const draft = await createDraft('locking-vault')
    const replaced = await operator.put('/vaults/locking-vault/routes', {
      routes: {
        network: fixtureRoutes.network,
        region: { order: 3, name: 'Region', variants: [{ id: 5, code: 'eu', name: 'EU' }] },
      },
    })
    expect(replaced.status).toBe(200)
    expect(replaced.body.routes.map(({ code }) => code)).toEqual(['region'])

    const locked = await operator.post('/vaults/locking-vault/lock')
    expect(locked.status).toBe(200)
    expect(locked.body.lockedAt).not.toBeNull()
    expect((await operator.post('/vaults/locking-vault/lock')).status).toBe(409)
    expect((await operator.put('/vaults/locking-vault/routes', { routes: fixtureRoutes })).status).toBe(409)
    expect((await operator.get('/vaults/locking-vault')).body).toEqual(locked.body)
    expect(await auditActions(draft.id)).toEqual(['vault.created', 'vault.locked', 'vault.structure_replaced'])
  })

  it('is locked once by requests at the same time', async () => {
    await createDraft('racing-vault')
    const answers = await Promise.all([1, 2, 3].map(() => operator.post('/vaults/racing-vault/lock')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })

  it('leaves the draft as it was when its replacement is faulty', async () => {
    const draft = await createDraft('kept-vault')
    const { network } = fixtureRoutes
    for (const routes of [
      {},
      { network, a: { order: 1, name: 'A', variants: [{ id: 1, code: 'a', name: 'A', token: 'NONE' }] } },
    ]) {
      expect((await operator.put('/vaults/kept-vault/routes', { routes })).status).toBe(400)
    }
    expect((await operator.get('/vaults/kept-vault')).body).toEqual(draft)
  })

  it('lets an administrator without platform rights connect known networks only, unchanged', async () => {
    const draft = await createDraft('delegated-vault')
    const fixture = { ...vault, code: 'delegated-vault', id: draft.id }
    const delegate = await addMember(test, fixture, 'delegate@example.org', ['administrators'])
    const put = (variants: object[]) =>
      delegate.put('/vaults/delegated-vault/routes', { routes: { network: { order: 0, name: 'Network', variants } } })
    const unknown = await put([{ id: 4_242, code: 'mine', name: 'Mine' }])
    expect(unknown.status).toBe(400)
    expect(unknown.body.details[0]!.field).toBe('routes.network.variants.0.id')
    const known = await put([{ id: 60, code: 'x', name: 'Renamed by a delegate' }])
    expect(known.status).toBe(200)
    expect(known.body.networks[0]!.name).not.toBe('Renamed by a delegate')
  })
})

describe('variants', () => {
  it('are added and changed after locking, never renumbered', async () => {
    const [purpose] = vault.vault.routes
    const url = `/vaults/main-vault/routes/${purpose!.id}/variants` as const
    const added = await operator.post(url, { id: 9, code: 'grants', name: 'Grants', token: 'USDT' })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      routeId: purpose!.id,
      pathId: 9,
      code: 'grants',
      enabled: true,
      tokenId: vault.tokens.usdt.id,
    })
    const changed = await operator.patch(`/vaults/main-vault/variants/${added.body.id}`, {
      name: 'Gifts',
      description: 'To charities',
      enabled: false,
      token: null,
    })
    expect(changed.body).toMatchObject({
      pathId: 9,
      code: 'grants',
      name: 'Gifts',
      description: 'To charities',
      enabled: false,
      tokenId: null,
    })
    expect((await auditActions(vault.id)).filter((action) => action.startsWith('variant.'))).toEqual([
      'variant.created',
      'variant.updated',
    ])

    expect((await operator.post(url, { id: 9, code: 'other', name: 'x' })).status).toBe(409)
    expect((await operator.post(url, { id: 10, code: 'grants', name: 'x' })).status).toBe(409)
    expect((await operator.post(url, { id: 10, code: 'ten', name: 'x', token: 'DOGE' })).status).toBe(400)
    for (const field of ['id', 'pathId', 'code', 'routeId']) {
      expect((await operator.patch(`/vaults/main-vault/variants/${added.body.id}`, { [field]: 1 })).status).toBe(400)
    }
  })

  it('do not exist on a dynamic route, an unknown route or a route of another vault', async () => {
    const index = vault.vault.routes[1]
    const body = { id: 1, code: 'a', name: 'A' }
    expect((await operator.post(`/vaults/main-vault/routes/${index!.id}/variants`, body)).status).toBe(409)
    expect((await operator.post(`/vaults/main-vault/routes/${newId()}/variants`, body)).status).toBe(404)
    const draft = await createDraft('foreign-vault')
    const foreign = draft.routes[0]
    expect((await operator.post(`/vaults/main-vault/routes/${foreign!.id}/variants`, body)).status).toBe(404)
    const patched = await operator.patch(`/vaults/main-vault/variants/${foreign!.variants[0]!.id}`, { name: 'x' })
    expect(patched.status).toBe(404)
  })
})

describe('changing a vault', () => {
  it('changes name, description and wallet service; the secret is sealed and never shown', async () => {
    const draft = await createDraft('changing-vault')
    const secret = 'a-bearer-secret-of-the-wallet'
    const changed = await operator.patch('/vaults/changing-vault', {
      name: 'Renamed',
      description: 'Now described',
      walletServiceSecret: secret,
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ name: 'Renamed', description: 'Now described' })
    expect(JSON.stringify(changed.body)).not.toContain('ecret')
    const row = await test.deps.db.selectFrom('vaults').selectAll().where('id', '=', draft.id).executeTakeFirstOrThrow()
    expect(row.wallet_service_secret!.includes(secret)).toBe(false)
    expect(openSecret(test.deps.sealer, row, 'wallet_service_secret', row.wallet_service_secret!)).toBe(secret)
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select('content')
      .where('chain', '=', draft.id)
      .execute()
    expect(JSON.stringify(records)).not.toContain(secret)
    expect((await operator.patch('/vaults/changing-vault', { description: null })).body.description).toBeNull()
  })

  it('does not carry a stored secret to another origin', async () => {
    await createDraft('moving-vault')
    await operator.patch('/vaults/moving-vault', { walletServiceSecret: 'a-bearer-secret-of-the-wallet' })
    const url = (walletServiceUrl: string, more: object = {}) =>
      operator.patch('/vaults/moving-vault', { walletServiceUrl, ...more })
    expect((await url('https://wallet.example.org/v2')).status).toBe(200)
    const moved = await url('https://thief.example.org')
    expect(moved.status).toBe(400)
    expect(moved.body.details[0]!.field).toBe('walletServiceSecret')
    expect((await url('https://thief.example.org', { walletServiceSecret: null })).status).toBe(200)
  })

  it('sets how often its wallet service is asked, and records and announces it', async () => {
    const created = await createDraft('asked-vault')
    expect(created.walletQuestionsPerSecond).toBe(20)
    const set = (walletQuestionsPerSecond: unknown) =>
      operator.patch('/vaults/asked-vault', { walletQuestionsPerSecond })
    expect((await set(3)).body.walletQuestionsPerSecond).toBe(3)
    expect((await operator.get('/vaults/asked-vault')).body.walletQuestionsPerSecond).toBe(3)
    for (const wrong of [0, 1_001, 2.5, '3', null]) {
      const answer = await set(wrong)
      expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, 'walletQuestionsPerSecond'])
    }
    expect(await auditActions(created.id)).toEqual(['vault.created', 'vault.updated'])
    const announced = await test.deps.db
      .selectFrom('announcements')
      .select('content')
      .where('chain', '=', created.id)
      .execute()
    expect(announced).toHaveLength(1)
    expect(JSON.stringify(announced)).toContain('walletQuestionsPerSecond')
  })

  it.each(['code', 'lockedAt', 'id', 'routes', 'networks'])('T41 answers 400 for a change of %s', async (field) => {
    const answer = await operator.patch('/vaults/main-vault', { [field]: null })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe(field)
  })
})

describe('parsing a derivation path', () => {
  it('answers network, and route, value and variant of every segment', async () => {
    const answer = await member.post('/vaults/main-vault/derivation-path/parse', { path: 'm/44/60/2/7' })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      network: { slug: 'ethereum' },
      segments: [
        { pathId: 2, route: { code: 'purpose' }, variant: { code: 'payroll', pathId: 2 } },
        { pathId: 7, route: { code: 'index', dynamic: true }, variant: null },
      ],
    })
    expect(answer.body.segments[0]!.route.variants.length).toBeGreaterThan(1)
  })

  it('matches disabled variants too', async () => {
    const [ops] = vault.vault.routes[0]!.variants
    await operator.patch(`/vaults/main-vault/variants/${ops!.id}`, { enabled: false })
    const answer = await member.post('/vaults/main-vault/derivation-path/parse', { path: 'm/44/60/1/0' })
    expect(answer.body.segments[0]!.variant).toMatchObject({ code: 'ops', enabled: false })
    await operator.patch(`/vaults/main-vault/variants/${ops!.id}`, { enabled: true })
  })

  it.each([
    ['m/49/60/1/0', 'm/44/'],
    ['m/44/0/1/0', 'coin type 0 is not connected'],
    ['m/44/60/1', '1 segments'],
    ['m/44/60/77/0', 'no variant 77'],
    ['m/44/60/1/2147483648', 'from 0 to 2147483647'],
  ])('answers 400 for %s with the reason', async (path, why) => {
    const answer = await member.post('/vaults/main-vault/derivation-path/parse', { path })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]!.field).toBe('path')
    expect(answer.body.details[0]!.message).toContain(why)
  })
})

describe('permissions', () => {
  it('lists the vaults of the caller only, platform administrator or not, page by page', async () => {
    const codes = (answer: { body: { items: { code: string }[] } }) => answer.body.items.map(({ code }) => code)
    expect(codes(await member.get('/vaults'))).toEqual(['main-vault'])
    expect(codes(await stranger.get('/vaults'))).toEqual([])
    const second = await test.signIn('second-operator@example.org', { isPlatformAdmin: true })
    expect(codes(await second.get('/vaults'))).toEqual([])
    const all = codes(await operator.get('/vaults?limit=100'))
    const seen: string[] = []
    let query = ''
    do {
      const page = await operator.get(`/vaults?limit=4${query}`)
      seen.push(...codes(page))
      query = page.body.nextCursor === null ? '' : `&cursor=${page.body.nextCursor}`
    } while (query !== '')
    expect(seen).toEqual(all)
    expect(all.length).toBeGreaterThan(4)
  })
})
