import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressScopeOf, subjectsOf } from '../../../access/address-scope.ts'
import type { Position } from '../../../lib/cursor.ts'
import { newId } from '../../../lib/ids.ts'
import type { Deposit, HistoryItem, Transfer } from '../../../testing/answer.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import type { FeedFilters, FeedLimits } from '../feed/feed-filters.ts'
import { noFilters } from '../feed/feed-filters.ts'
import { listHistory } from './queries.ts'

/** The same query against the feed and against a plain loop over all operations. */
const { runs: vaults, seed } = campaignOf('HISTORY', { runs: 2, seed: 20_261_121 })
const queriesPerVault = 200
/** Small enough that every walk passes many windows, and that sets of keys are both merged and gathered. */
const tiny: FeedLimits = { windowRows: 7, mergedRangesMax: 2, gatheredRows: 3, gatheringsMax: 2, scannedRows: 6 }

let test: TestApp
let admin: Person
let people: Person[]
let sql: pg.Client
let networks: { id: string; slug: string }[]
let tokens: { id: string; code: string; network: number }[]

beforeAll(async () => {
  test = await createTestApp()
  sql = new pg.Client({ connectionString: test.databaseUrl })
  await sql.connect()
  admin = await test.signIn('administrator@example.org')
  people = []
  for (const role of ['treasurer', 'accountant', 'payroll', 'auditor'])
    people.push(await test.signIn(`${role}@example.org`))
  networks = [0, 1].map((i) => ({ id: newId(), slug: `chain-${i}` }))
  // One code on two networks, and two codes on one.
  tokens = [0, 1, 2, 3].map((i) => ({ id: newId(), code: ['USDC', 'COIN', 'USDC', 'DAI'][i]!, network: i < 2 ? 0 : 1 }))
  const times = { created_at: at(0), updated_at: at(0) }
  await insert(
    'networks',
    networks.map(({ id, slug }, i) => ({ id, slug, coin_type: i, code: slug, name: slug, type: 'evm', ...times })),
  )
  await insert(
    'tokens',
    tokens.map(({ id, code, network }, i) => {
      const { id: network_id } = networks[network]!
      const contract = { contract_address: `0x${i}`, contract_key: `0x${i}` }
      return { id, code, symbol: code, name: code, decimals: 2, network_id, enabled: true, ...contract, ...times }
    }),
  )
})
afterAll(async () => {
  await sql.end()
  await test.close()
})

const at = (minute: number) => new Date(Date.UTC(2026, 0, 31, 23, 55 + minute))
const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const
const purposes = ['Invoice 1', 'invoice 1']
const categoryKeys = ['everyone', 'owners', 'granted']
const categoryScopes = ['vault_members', 'owner_only', 'restricted'] as const

const person = fc.nat(3)
/** Four people, then the two groups that grants name. */
const subject = fc.nat(5)
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
const perhaps = <T>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), value)

const anyOperation = fc.record({
  minute: fc.nat(9),
  isOut: fc.boolean(),
  status: fc.constantFrom('awaiting_approval' as const, ...statuses),
  address: fc.nat(7),
  initiator: perhaps(person),
  token: fc.nat(3),
  isInternal: fc.boolean(),
  counterparty: perhaps(fc.nat(3)),
  counterpartyAddress: fc.nat(1),
  purpose: perhaps(fc.nat(1)),
  policy: perhaps(fc.nat(1)),
  hash: perhaps(fc.nat(2)),
  categories: fc.uniqueArray(fc.nat(2), { maxLength: 3 }),
  voters: fc.uniqueArray(
    fc.record({ person, hasVoted: fc.boolean(), isEntitled: fc.oneof(fc.constant(true), fc.boolean()) }),
    { maxLength: 3, selector: ({ person }) => person },
  ),
})

/** Address i is owned by person i % 4, folder i managed by person i, and so are the addresses in it. */
const anyWorld = fc.record({
  operations: fc.array(anyOperation, { minLength: 20, maxLength: 45, size: 'max' }),
  grants: fc.uniqueArray(fc.tuple(fc.nat(7), subject), { maxLength: 8, selector: String, size: 'max' }),
  folders: fc.array(
    fc.record({
      members: fc.subarray([0, 4]),
      grants: fc.uniqueArray(subject, { maxLength: 2 }),
    }),
    { minLength: 3, maxLength: 3 },
  ),
  counterpartyGroups: fc.array(fc.subarray([0, 1, 2, 3]), { minLength: 2, maxLength: 2 }),
  /** To whom the restricted category is granted. */
  categoryGrants: fc.uniqueArray(subject, { maxLength: 2 }),
  groups: fc.array(fc.subarray([0, 1, 2, 3]), { minLength: 2, maxLength: 2 }),
})
type World = typeof anyWorld extends fc.Arbitrary<infer T> ? T : never

const anyQuery = fc.record({
  viewer: perhaps(person),
  userId: rarely(person),
  includeShared: rarely(fc.boolean()),
  folder: rarely(fc.nat(3)),
  awaits: rarely(fc.constant(true)),
  isOut: rarely(fc.boolean()),
  status: rarely(fc.constantFrom(...statuses)),
  /** A second status; it counts only beside `status`. */
  other: perhaps(fc.constantFrom(...statuses)),
  hasDepositsOfStatus: fc.boolean(),
  initiator: seldom(person),
  minimum: seldom(fc.nat(9)),
  maximum: seldom(fc.nat(9)),
  search: seldom(fc.constantFrom('NVOICE', 'invoice 1', ' 1', '%%', 'lier', '0x1')),
  asset: rarely(fc.constantFrom('USDC', 'DAI', 'NONE')),
  token: rarely(fc.nat(3)),
  network: rarely(fc.nat(2)),
  address: rarely(fc.nat(7)),
  isInternal: rarely(fc.boolean()),
  counterparty: rarely(fc.nat(3)),
  counterpartyGroup: rarely(fc.nat(2)),
  counterpartyAddress: rarely(fc.nat(7)),
  category: rarely(fc.nat(3)),
  purpose: rarely(fc.nat(1)),
  policy: rarely(fc.nat(1)),
  hash: rarely(fc.nat(2)),
  from: rarely(fc.nat(9)),
  to: rarely(fc.nat(9)),
  limit: fc.integer({ min: 1, max: 12 }),
})
type Query = typeof anyQuery extends fc.Arbitrary<infer T> ? T : never

const unfilteredQuery: Query = {
  viewer: null,
  userId: null,
  includeShared: null,
  folder: null,
  awaits: null,
  isOut: null,
  status: null,
  other: null,
  hasDepositsOfStatus: false,
  initiator: null,
  minimum: null,
  maximum: null,
  search: null,
  asset: null,
  token: null,
  network: null,
  address: null,
  isInternal: null,
  counterparty: null,
  counterpartyGroup: null,
  counterpartyAddress: null,
  category: null,
  purpose: null,
  policy: null,
  hash: null,
  from: null,
  to: null,
  limit: 20,
}

/** A world as stored in the database. Ids replace the indexes of the world. */
type Vault = World & { id: string; code: string; ids: Ids; rows: Row[] }
type Ids = Record<
  | 'addresses'
  | 'folders'
  | 'counterparties'
  | 'counterpartyAddresses'
  | 'groups'
  | 'categories'
  | 'policies'
  | 'subjects',
  string[]
>
type Row = World['operations'][number] & { id: string }

describe('history against a plain loop over everything', () => {
  it(`finds the same for ${vaults * queriesPerVault} queries, page by page, through windows of ${tiny.windowRows} rows`, async () => {
    const queries = fc.sample(anyQuery, { numRuns: vaults * queriesPerVault, seed })
    let answered = 0
    let several = 0
    for (const world of fc.sample(anyWorld, { numRuns: vaults, seed })) {
      const vault = await store(world)
      await inTurn(6, queries.splice(0, queriesPerVault), async (query) => {
        const { ids, pages } = await walk(vault, query)
        expect({ query, ids }).toEqual({ query, ids: idsOf(expected(vault, query)) })
        if (ids.length > 0) answered += 1
        if (pages.length > 1) several += 1
        expect(pages.every((page) => page.ids.length <= query.limit)).toBe(true)
      })
    }
    // Two empty results agree easily, so enough of the queries must find operations and need several pages.
    expect(answered).toBeGreaterThan(0.3 * vaults * queriesPerVault)
    expect(several).toBeGreaterThan(0.2 * vaults * queriesPerVault)
  })

  it('finds the same through HTTP, with the category that the caller sees', async () => {
    const [world] = fc.sample(anyWorld, { numRuns: 1, seed: seed + 1 })
    const vault = await store(world!)
    const queries = fc.sample(anyQuery, { numRuns: 300, seed: seed + 1 })
    await inTurn(
      4,
      queries.filter((query) => isPossible(vault, query)),
      async (query) => {
        const items = await walkHttp(vault, query, 'history')
        const found = items.map(({ id, metadata }) => ({ id, category: metadata.category }))
        const wanted = expected(vault, query).map((row) => ({ id: row.id, category: firstCategory(vault, query, row) }))
        expect({ query, found }).toEqual({ query, found: wanted })
      },
    )
  })

  it('lists transfers and deposits as the history does', async () => {
    const [world] = fc.sample(anyWorld, { numRuns: 1, seed: seed + 2 })
    const vault = await store(world!)
    const scopes = fc.sample(
      fc.record({ viewer: perhaps(person), folder: perhaps(fc.nat(3)), includeShared: perhaps(fc.boolean()) }),
      { numRuns: 12, seed },
    )
    for (const scope of scopes.filter((candidate) => isPossible(vault, { ...unfilteredQuery, ...candidate }))) {
      for (const status of [null, ...statuses]) {
        const query: Query = { ...unfilteredQuery, ...scope, status, limit: 6 }
        const found = await walkHttp(vault, query, 'transfers')
        expect({ query, ids: idsOf(found) }).toEqual({ query, ids: idsOf(expected(vault, { ...query, isOut: true })) })
      }
      for (const address of [null, 0, 5]) {
        const query: Query = { ...unfilteredQuery, ...scope, address, limit: 6 }
        const found = await walkHttp(vault, query, 'deposits')
        expect({ query, ids: idsOf(found) }).toEqual({ query, ids: idsOf(expected(vault, { ...query, isOut: false })) })
      }
    }
  })

  it('neither skips nor repeats while operations arrive and statuses change between the pages', async () => {
    const changes = fc.sample(
      fc.record({ operation: anyOperation, row: fc.nat(), status: fc.constantFrom(...statuses) }),
      { numRuns: 5_000, seed },
    )
    const queries = fc.sample(anyQuery, { numRuns: 120, seed: seed + 3 })
    let minute = 10
    for (const world of fc.sample(anyWorld, { numRuns: 4, seed: seed + 3 })) {
      const vault = await store(world)
      for (const query of queries.splice(0, 30)) {
        const before = expected(vault, query)
        const changed = new Set<string>()
        const { ids } = await walk(vault, query, tiny, async () => {
          const { operation, row, status } = changes.pop()!
          // New operations are newer than all existing ones.
          await addOperations(vault, [{ ...operation, minute }])
          minute += 1
          const moved = vault.rows[row % vault.rows.length]!
          if (!moved.isOut || changed.has(moved.id)) return
          moved.status = status
          changed.add(moved.id)
          await sql.query('update operations set status = $3 where vault_id = $1 and id = $2', [
            vault.id,
            moved.id,
            status,
          ])
        })
        const unchanged = (id: string) => !changed.has(id)
        expect({ query, ids: ids.filter(unchanged) }).toEqual({ query, ids: idsOf(before).filter(unchanged) })
        expect(new Set(ids).size).toBe(ids.length)
      }
    }
  })

  it('T40 operations of others change no page and no cursor of a member', async () => {
    const additions = fc.sample(anyOperation, { numRuns: 40, seed: seed + 4 })
    const queries = fc.sample(anyQuery, { numRuns: 480, seed: seed + 4 })
    let grown = 0
    for (const world of fc.sample(anyWorld, { numRuns: 4, seed: seed + 4 })) {
      const vault = await store(world)
      for (const viewer of [0, 1, 2, 3]) {
        const queriesOfViewer = queries.splice(0, 30).map((query) => ({ ...query, viewer }))
        const before = await Promise.all(queriesOfViewer.map((query) => walk(vault, query)))
        const everything = { ...unfilteredQuery, viewer, includeShared: true }
        const foreign = additions
          .map((addition) => ({
            ...addition,
            isOut: addition.isOut,
            initiator: null,
            voters: addition.voters.filter((voter) => voter.person !== viewer),
          }))
          .filter((addition) => expected({ ...vault, rows: [{ ...addition, id: 'x' }] }, everything).length === 0)
        await addOperations(vault, foreign)
        grown += foreign.length
        const after = await Promise.all(queriesOfViewer.map((query) => walk(vault, query)))
        expect(after.map(({ pages }) => pages)).toEqual(before.map(({ pages }) => pages))
      }
    }
    expect(grown).toBeGreaterThan(200)
  })
})

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
/** The route refuses what the feed answers with an empty page, and viewers who are in no group of the vault. */
const isPossible = (vault: Vault, { viewer, awaits, isOut, from, to, token, minimum, maximum }: Query) =>
  !(awaits && isOut === false) &&
  (from === null || to === null || from <= to) &&
  (token !== null || (minimum === null && maximum === null)) &&
  (viewer === null || isMember(vault, viewer))

async function walkHttp(vault: Vault, query: Query, list: 'history' | 'transfers' | 'deposits') {
  const { scope, filters } = requestOf(vault, query)
  const parameters = {
    folderId: scope.folderId,
    userId: query.viewer === null ? scope.ownerId : null,
    includeShared: query.includeShared,
    awaitingMyApproval: query.awaits,
    direction: query.isOut === null ? null : query.isOut ? 'out' : 'in',
    ...Object.fromEntries(
      [
        'initiatorId',
        'minimumAmount',
        'maximumAmount',
        'search',
        'asset',
        'tokenId',
        'network',
        'addressId',
        'flowType',
      ].map((name) => [name, filters[name as 'asset']]),
    ),
    [filters.hasDepositsOfStatus ? 'statuses' : 'status']: filters.statuses?.join(),
    counterpartyId: filters.counterpartyId,
    counterpartyGroupId: filters.counterpartyGroupId,
    counterpartyAddressId: filters.counterpartyAddressId,
    category: filters.category,
    paymentPurpose: filters.paymentPurpose,
    decisionPolicyId: filters.decisionPolicyId,
    txHash: filters.txHash,
    from: filters.from?.toISOString(),
    to: filters.to?.toISOString(),
    limit: query.limit,
  }
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value != null) search.set(name, String(value))
  const by = query.viewer === null ? admin : people[query.viewer]!
  const items: (HistoryItem | Transfer | Deposit)[] = []
  for (;;) {
    const { status, body } = await by.get(`/vaults/${vault.code}/${list}?${search}`)
    expect([String(search), status]).toEqual([String(search), 200])
    // Without `outcome`, deposits are those that are credited.
    items.push(...(body.items as typeof items))
    if (body.nextCursor === null) return items
    search.set('cursor', body.nextCursor)
  }
}

async function walk(vault: Vault, query: Query, limits = tiny, between: () => Promise<void> = async () => {}) {
  const { scope, filters } = requestOf(vault, query)
  const pages: { ids: string[]; next: Position | null }[] = []
  let after: Position | null = null
  do {
    const { rows, next } = await listHistory(test.deps.db, scope, filters, { after, limit: query.limit }, limits)
    pages.push({ ids: rows.map(({ id }) => id), next })
    after = next
    if (next !== null) await between()
    // Every window but the last holds at least one row more than the page before.
    if (pages.length > 4 * (vault.rows.length + 1)) throw new Error('the walk does not end')
  } while (after !== null)
  return { pages, ids: pages.flatMap(({ ids }) => ids) }
}

const viewerOf = (vault: Vault, index: number | null) => {
  const groupIds = vault.groups.flatMap((members, i) => (members.includes(index ?? -1) ? [vault.ids.groups[i]!] : []))
  return { userId: (index === null ? admin : people[index]!).userId, readsAll: index === null, groupIds, vault }
}

const pick = <T>(from: T[], index: number | null): T | null => (index === null ? null : (from[index] ?? null))
const named = (from: string[], index: number | null) => (index === null ? null : (from[index] ?? 'nowhere'))

function requestOf(vault: Vault, query: Query) {
  const { ids } = vault
  // Only administrators may name other members.
  const userId = query.viewer === null ? pick(people, query.userId)?.userId : undefined
  const scope = addressScopeOf(viewerOf(vault, query.viewer), {
    userId,
    includeShared: query.includeShared ?? undefined,
    folderId: named(ids.folders, query.folder) ?? undefined,
  })
  const category = named(categoryKeys, query.category)
  const filters: FeedFilters = {
    ...noFilters,
    awaitingApprovalOf: query.awaits ? scope.viewer.userId : null,
    type: query.isOut === null ? null : query.isOut ? 'transfer' : 'deposit',
    statuses: query.status === null ? null : query.other === null ? [query.status] : [query.status, query.other],
    hasDepositsOfStatus: query.hasDepositsOfStatus || null,
    asset: query.asset,
    tokenId: pick(tokens, query.token)?.id ?? null,
    network: named(
      networks.map(({ slug }) => slug),
      query.network,
    ),
    addressId: named(ids.addresses, query.address),
    flowType: query.isInternal === null ? null : query.isInternal ? 'internal' : 'external',
    counterpartyId: named(ids.counterparties, query.counterparty),
    counterpartyGroupId: query.counterpartyGroup === null ? null : `${vault.id}-${query.counterpartyGroup}`,
    counterpartyAddressId: named(ids.counterpartyAddresses, query.counterpartyAddress),
    category: category,
    paymentPurpose: pick(purposes, query.purpose),
    decisionPolicyId: named(ids.policies, query.policy),
    txHash: query.hash === null ? null : `0x${query.hash}`,
    initiatorId: pick(people, query.initiator)?.userId ?? null,
    minimumAmount: query.minimum?.toString() ?? null,
    maximumAmount: query.maximum?.toString() ?? null,
    search: query.search,
    from: query.from === null ? null : at(query.from),
    to: query.to === null ? null : at(query.to),
  }
  return { scope, filters }
}

/** The rules of the specification, applied to one operation after the other. */
function expected(vault: Vault, query: Query): Row[] {
  const { viewer, folder } = query
  const isGranted = (to: number[]) => isGrantedTo(vault, viewer, to)
  const isInFolder = (i: number, address: number) =>
    address % 4 === i && vault.folders[i]!.members.includes(address - i)
  const isFolderVisible = (i: number) =>
    i < vault.folders.length && (viewer === null || viewer === i || isGranted(vault.folders[i]!.grants))
  const isShared = (address: number) =>
    vault.grants.some(([of, to]) => of === address && isGranted([to])) ||
    vault.folders.some(({ grants }, i) => isInFolder(i, address) && isGranted(grants))
  const includesShared = viewer !== null && (query.includeShared ?? folder !== null)
  const owner = viewer ?? query.userId
  const isInScope = (row: Row) => owner === null || isOf(row, owner) || (includesShared && isShared(row.address))
  const awaits = (row: Row) =>
    row.isOut &&
    row.status === 'awaiting_approval' &&
    initiatorOf(row) !== viewer &&
    row.voters.some(
      (voter) => voter.person === viewer && !voter.hasVoted && voter.isEntitled && isMember(vault, voter.person),
    ) &&
    (viewer !== null || query.userId === null || isOf(row, query.userId))
  const is = <T>(wanted: T | null, value: T | null) => wanted === null || wanted === value
  return vault.rows
    .filter((row) => (query.awaits ? awaits(row) : isInScope(row)))
    .filter((row) => folder === null || (isFolderVisible(folder) && isInFolder(folder, row.address)))
    .filter(
      (row) =>
        is(query.isOut, row.isOut) &&
        (query.status === null ||
          ((row.isOut || query.hasDepositsOfStatus) && [query.status, query.other].includes(statusOf(row)))),
    )
    .filter((row) => is(query.asset, tokens[row.token]!.code) && is(query.token, row.token))
    .filter((row) => is(query.network, tokens[row.token]!.network) && is(query.address, row.address))
    .filter((row) => is(query.isInternal, row.isInternal) && is(query.counterparty, row.counterparty))
    .filter((row) => is(query.counterpartyAddress, counterpartyAddressOf(row)) && is(query.purpose, row.purpose))
    .filter(
      ({ counterparty }) =>
        query.counterpartyGroup === null ||
        (counterparty !== null && vault.counterpartyGroups[query.counterpartyGroup]?.includes(counterparty) === true),
    )
    .filter((row) => query.policy === null || (row.isOut && row.policy === query.policy))
    .filter((row) => is(query.hash, row.hash) && is(query.initiator, initiatorOf(row)))
    .filter((row) => amountOf(row) >= (query.minimum ?? 0) && amountOf(row) <= (query.maximum ?? 99))
    .filter((row) => query.search === null || textsOf(row).some((text) => text.includes(query.search!.toLowerCase())))
    .filter(
      (row) =>
        query.category === null ||
        (row.categories.includes(query.category) && isCategoryVisible(vault, viewer, row, query.category)),
    )
    .filter(({ minute }) => (query.from === null || minute >= query.from) && (query.to === null || minute <= query.to))
    .sort((a, b) => b.minute - a.minute || (a.id < b.id ? 1 : -1))
}

function isGrantedTo(vault: Vault, viewer: number | null, to: number[]): boolean {
  const subjects =
    viewer === null ? [] : subjectsOf(viewerOf(vault, viewer)).map((subject) => vault.ids.subjects.indexOf(subject))
  return to.some((subject) => subjects.includes(subject))
}

function isCategoryVisible(vault: Vault, viewer: number | null, row: Row, category: number): boolean {
  const scope = categoryScopes[category]
  if (viewer === null || scope === 'vault_members') return true
  return scope === 'owner_only' ? isOf(row, viewer) : isGrantedTo(vault, viewer, vault.categoryGrants)
}

/** They are in the order in which they were assigned. */
function firstCategory(vault: Vault, { viewer }: Query, row: Row): string | null {
  const first = row.categories.find((category) => isCategoryVisible(vault, viewer, row, category))
  return first === undefined ? null : categoryKeys[first]!
}

/** A deposit is failed while the chain no longer has it, and confirmed otherwise. */
const isOrphaned = ({ isOut, status }: World['operations'][number]) => !isOut && status === 'failed'
const statusOf = (row: Row) => (row.isOut || isOrphaned(row) ? row.status : 'confirmed')

const isOf = (row: Row, who: number) => row.address % 4 === who || initiatorOf(row) === who

const initiatorOf = (row: Row) => (row.isOut ? (row.initiator ?? row.address % 4) : null)
const amountOf = ({ minute, address }: World['operations'][number]) => 1 + ((minute + address) % 9)
const textsOf = ({ purpose, counterparty }: Row) => [
  ...(purpose === null ? [] : [purposes[purpose]!.toLowerCase()]),
  ...(counterparty === null ? [] : ['supplier']),
]
const counterpartyAddressOf = ({ counterparty, counterpartyAddress }: Row) =>
  counterparty === null ? null : 2 * counterparty + counterpartyAddress
const isMember = (vault: Vault, who: number) => vault.groups.some((members) => members.includes(who))

async function store(world: World): Promise<Vault> {
  const id = newId()
  const make = (count: number) => Array.from({ length: count }, () => newId())
  const ids: Ids = {
    addresses: make(8),
    folders: make(3),
    counterparties: make(4),
    counterpartyAddresses: make(8),
    groups: make(2),
    categories: make(3),
    policies: make(2),
    subjects: [],
  }
  ids.subjects = [...people.map(({ userId }) => `user:${userId}`), ...ids.groups.map((group) => `group:${group}`)]
  const subjectColumns = (index: number) => {
    const [subject_type, subject_id] = ids.subjects[index]!.split(':')
    return { subject_type, subject_id, can_view: true, grantor_id: admin.userId, created_at: at(0) }
  }
  const administrators = newId()
  const common = { vault_id: id, created_at: at(0), updated_at: at(0) }
  const vault: Vault = { ...world, id, code: `v${id}`, ids, rows: [] }
  await insert('vaults', [
    {
      id,
      code: vault.code,
      name: 'Vault',
      wallet_service_url: 'http://127.0.0.1:1',
      created_at: at(0),
      updated_at: at(0),
    },
  ])
  await insert('policy_groups', [
    ...ids.groups.map((group, i) => ({ ...common, id: group, code: `group-${i}`, name: 'Group', is_system: false })),
    { ...common, id: administrators, code: 'administrators', name: 'Administrators', is_system: true },
  ])
  await insert('policy_group_memberships', [
    { vault_id: id, id: newId(), group_id: administrators, user_id: admin.userId, created_at: at(0) },
  ])
  await insert(
    'policy_group_memberships',
    world.groups.flatMap((members, i) =>
      members.map((who) => ({
        vault_id: id,
        id: newId(),
        group_id: ids.groups[i],
        user_id: people[who]!.userId,
        created_at: at(0),
      })),
    ),
  )
  await insert(
    'addresses',
    ids.addresses.map((address, i) => ({
      ...common,
      id: address,
      network_id: networks[0]!.id,
      address,
      address_key: address,
      derivation_path: `m/44/${i}`,
      static_prefix: 'm/44',
      path_index: i,
      segments: {},
      owner_id: people[i % 4]!.userId,
      tags: [],
    })),
  )
  await insert(
    'address_grants',
    world.grants.map(([address, to]) => ({
      vault_id: id,
      id: newId(),
      address_id: ids.addresses[address],
      can_transfer: false,
      ...subjectColumns(to),
    })),
  )
  await insert(
    'address_groups',
    ids.folders.map((folder, i) => ({ ...common, id: folder, name: 'Folder', created_by_id: people[i]!.userId })),
  )
  await insert(
    'address_group_members',
    world.folders.flatMap(({ members }, i) =>
      members.map((member) => ({
        vault_id: id,
        group_id: ids.folders[i],
        address_id: ids.addresses[member + i],
        created_at: at(0),
      })),
    ),
  )
  await insert(
    'address_group_grants',
    world.folders.flatMap(({ grants }, i) =>
      grants.map((to) => ({
        vault_id: id,
        id: newId(),
        group_id: ids.folders[i],
        can_transfer: false,
        ...subjectColumns(to),
      })),
    ),
  )
  await insert(
    'counterparties',
    ids.counterparties.map((counterparty) => ({
      ...common,
      id: counterparty,
      name: 'Supplier',
      kind: 'company',
      version: 1,
      created_by_id: admin.userId,
    })),
  )
  await insert(
    'counterparty_groups',
    [0, 1].map((i) => ({ ...common, id: `${id}-${i}`, code: `group-${i}`, name: 'Group', version: 1 })),
  )
  await insert(
    'counterparty_group_memberships',
    world.counterpartyGroups.flatMap((members, i) =>
      members.map((member) => ({
        vault_id: id,
        group_id: `${id}-${i}`,
        counterparty_id: ids.counterparties[member],
        created_at: at(0),
      })),
    ),
  )
  const shape = {
    applies_to: 'both',
    assign_scope: 'vault_members',
    edit_scope: 'vault_members',
    approval_scope: 'none',
  }
  const rest = { approval_threshold: 0, allow_initiator_approval: false, is_system: false, archived: false, version: 1 }
  await insert(
    'operation_categories',
    ids.categories.map((category, i) => ({
      ...common,
      ...shape,
      ...rest,
      id: category,
      key: categoryKeys[i],
      name: 'Category',
      view_scope: categoryScopes[i],
      created_by_id: admin.userId,
      updated_by_id: admin.userId,
    })),
  )
  await insert(
    'category_grants',
    world.categoryGrants.map((to) => ({
      vault_id: id,
      id: newId(),
      category_id: ids.categories[2],
      can_assign: false,
      can_edit: false,
      ...subjectColumns(to),
    })),
  )
  await addOperations(vault, world.operations)
  return vault
}

let depositsAdded = 0

async function addOperations(vault: Vault, operations: World['operations']): Promise<void> {
  const { id: vault_id, ids } = vault
  // Ids are made like in the service: an id sorts by the time of its operation.
  const rows: Row[] = operations.map((operation) => ({ ...operation, id: newId(at(operation.minute)) }))
  vault.rows.push(...rows)
  const out = rows.filter(({ isOut }) => isOut)
  await insert(
    'operations',
    rows.map((row) => ({
      vault_id,
      id: row.id,
      type: row.isOut ? 'transfer' : 'deposit',
      status: statusOf(row),
      address_id: ids.addresses[row.address],
      owner_id: people[row.address % 4]!.userId,
      initiator_id: row.isOut ? people[initiatorOf(row)!]!.userId : null,
      network_id: networks[tokens[row.token]!.network]!.id,
      token_id: tokens[row.token]!.id,
      amount: String(amountOf(row)),
      flow_type: row.isInternal ? 'internal' : 'external',
      tx_hash: row.hash === null ? null : `0x${row.hash}`,
      counterparty_id: pick(ids.counterparties, row.counterparty),
      counterparty_address_id: pick(ids.counterpartyAddresses, counterpartyAddressOf(row)),
      counterparty_name: row.counterparty === null ? null : 'Supplier',
      counterparty_kind: row.counterparty === null ? null : 'company',
      tags: [],
      payment_purpose: pick(purposes, row.purpose),
      created_at: at(row.minute),
      updated_at: at(row.minute),
    })),
  )
  await insert(
    'transfers',
    out.map(({ id, policy, minute }) => ({
      vault_id,
      id,
      to_address: 'x',
      to_address_key: 'x',
      payload: payloadOf(vault_id, id),
      payload_hash: `\\x${'00'.repeat(32)}`,
      decision: {},
      decision_policy_id: pick(ids.policies, policy),
      approval_threshold: 0,
      phase: 'done',
      created_at: at(minute),
    })),
  )
  await insert(
    'deposits',
    rows
      .filter(({ isOut }) => !isOut)
      .map(({ id, address, token, hash, minute }) => ({
        vault_id,
        id,
        address_id: ids.addresses[address],
        token_id: tokens[token]!.id,
        tx_hash: hash === null ? id : `0x${hash}`,
        tx_index: depositsAdded++,
        created_at: at(minute),
      })),
  )
  await insert(
    'deposit_orphans',
    rows.filter(isOrphaned).map((row) => ({
      vault_id,
      id: newId(),
      deposit_id: row.id,
      address_id: ids.addresses[row.address],
      token_id: tokens[row.token]!.id,
      occurrence: 0,
      amount: String(amountOf(row)),
      taken: '0',
      created_at: at(row.minute),
    })),
  )
  await insert(
    'category_assignments',
    rows.flatMap(({ id, isOut, minute, categories }) =>
      categories.map((category, order) => ({
        vault_id,
        id: newId(),
        operation_id: id,
        operation_type: isOut ? 'transfer' : 'deposit',
        operation_created_at: at(minute),
        category_id: ids.categories[category],
        values: {},
        version: 1,
        assigned_by_id: admin.userId,
        created_at: at(minute + order),
        updated_at: at(minute + order),
      })),
    ),
  )
  const votes = out.flatMap(({ id, minute, status, voters }) =>
    voters.map((voter) => ({ ...voter, subject_id: id, minute, held: status === 'awaiting_approval' ? null : true })),
  )
  await insert(
    'approval_voters',
    votes.map(({ subject_id, minute, person: who, hasVoted }) => ({
      vault_id,
      id: newId(),
      subject_id,
      user_id: people[who]!.userId,
      decision: hasVoted ? 'approve' : null,
      voted_at: hasVoted ? at(9) : null,
      created_at: at(minute),
    })),
  )
  await insert(
    'approval_eligibilities',
    votes
      .filter(({ isEntitled }) => isEntitled)
      .map(({ subject_id, person: who, held }) => ({
        vault_id,
        subject_id,
        user_id: people[who]!.userId,
        step_index: 0,
        policy_id: 'p',
        group_id: '',
        held,
      })),
  )
}

async function insert(table: string, rows: Record<string, unknown>[]): Promise<void> {
  if (rows.length === 0) return
  const columns = Object.keys(rows[0]!).map((name) => `"${name}"`)
  await sql.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  )
}

/** Works on a few at a time: the database has more than one connection. */
async function inTurn<T>(atOnce: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
    }),
  )
}

/** The fields that every stored order has. No filter reads them. */
function payloadOf(vaultId: string, id: string) {
  const ids = { transferId: id, vaultId, initiatorId: id, fromAddressId: id, tokenId: id }
  const ends = { fromAddress: 'x', toAddress: 'x', derivationPath: 'm/0', network: 'chain-0', coinType: 60 }
  return { ...ids, ...ends, contractAddress: null, amount: '1' }
}
