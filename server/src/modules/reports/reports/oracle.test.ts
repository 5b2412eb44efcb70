import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { BodyOf } from '../../../testing/answer.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import { type Counterparty, createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

/** Compares reports over random operations with a simple computation in memory that shares no code with the engine. */
const { runs, seed } = campaignOf('REPORT', { runs: 10, seed: 1 })
const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'Pacific/Apia']
const statuses = ['awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled'] as const
/** An instant after everything that any run writes. */
const later = '9000-01-01T00:00:00.000Z'

/** The other side of an operation: the counterparty recorded at its creation, and the current one. */
type Side = { counterparty: Counterparty | null; otherSide?: string; historical: string | null; current: string | null }

let world: ReportWorld
let sides: Side[]
let names: Record<string, string>
let categories: string[]
beforeAll(async () => {
  world = await createReportWorld()
  const [first, two, late, moved] = [
    await world.addCounterparty('One'),
    await world.addCounterparty('Two'),
    await world.addCounterparty('Late', later),
    await world.addCounterparty('Moved'),
  ]
  names = Object.fromEntries([first, two, late, moved].map(({ id, name }) => [id, name]))
  // The address of Moved belongs to Late now.
  await world.removeCounterpartyAddress(moved.addressId)
  await world.sql(
    `insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at)
    values ($1, $2, $3, $4, $5, lower($5), $6)`,
    [world.vault.id, newId(), late.id, world.vault.networks.ethereum.id, moved.address, later],
  )
  sides = [
    { counterparty: null, historical: null, current: null },
    { counterparty: first, historical: first.id, current: first.id },
    { counterparty: two, historical: two.id, current: two.id },
    { counterparty: null, otherSide: late.address, historical: null, current: late.id },
    { counterparty: moved, historical: moved.id, current: late.id },
  ]
  categories = [await addCategory('rent'), await addCategory('travel')]
  await world.sql(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
    values ($1, $2, $3, 'user', $4, true, false, $5, now())`,
    [world.vault.id, newId(), world.foreign.id, world.owner.userId, world.other.userId],
  )
})
afterAll(() => world.close())

async function addCategory(key: string): Promise<string> {
  const id = newId()
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, $3, $3, 'both', 'vault_members', 'vault_members', 'vault_members', 'none', 0, false, $4, $4, now(), now())`,
    [world.vault.id, id, key, world.admin.userId],
  )
  for (const field of ['city', 'cost']) {
    await world.sql(
      `insert into category_fields (vault_id, id, category_id, key, label, type, required, sensitive, order_index, created_at, updated_at)
      values ($1, $2, $3, $4, $4, 'text', false, false, 0, now(), now())`,
      [world.vault.id, newId(), id, field],
    )
  }
  return id
}

const categoryKeys = ['rent', 'travel']
type Assigned = { category: number; city: string; cost: string }

const days = 20
const dayMinutes = 1440
/** A date other than that of creation: none, or some time later. */
const delay = fc.option(fc.integer({ min: 0, max: 3 * dayMinutes }))
const drawn = fc.record({
  type: fc.constantFrom<'transfer' | 'deposit'>('transfer', 'deposit'),
  status: fc.constantFrom(...statuses, 'confirmed' as const, 'confirmed' as const),
  token: fc.constantFrom<'usdt' | 'eth'>('usdt', 'eth'),
  raw: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 24n)),
  rate: fc.constantFrom('1', '0.9987', '2503.123456789', null),
  // Some instants are before the interval and in the previous one, some after it, some a year earlier, and many at its midnights.
  minute: fc.oneof(
    fc.integer({ min: -days * dayMinutes, max: days * dayMinutes + 600 }),
    fc.integer({ min: 0, max: days }).map((day) => day * dayMinutes),
    fc.integer({ min: 0, max: days * dayMinutes }).map((minute) => minute - 365 * dayMinutes),
  ),
  side: fc.integer({ min: 0, max: 4 }),
  isInternal: fc.boolean(),
  place: fc.constantFrom<'own' | 'second' | 'foreign'>('own', 'second', 'foreign'),
  byOwner: fc.boolean(),
  blockchainDelay: delay,
  confirmedDelay: delay,
  fee: fc.option(fc.record({ raw: fc.bigInt(1n, 10n ** 18n), rate: fc.constantFrom('1', '2503.123456789', null) })),
  paymentPurpose: fc.constantFrom(null, '', 'Invoice'),
  note: fc.constantFrom(null, 'Note'),
  assigned: fc.uniqueArray(
    fc.record({
      category: fc.integer({ min: 0, max: 1 }),
      city: fc.constantFrom('Oslo', 'Rome'),
      cost: fc.constantFrom('1.00', '2.00'),
    }),
    { selector: ({ category }) => category, maxLength: 2 },
  ),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 1 })
const requests = fc.record({
  timezone: fc.constantFrom(...zones),
  groupBy: fc.constantFrom('day', 'week', 'month'),
  dateBasis: fc.constantFrom<'createdAt' | 'blockchainAt' | 'confirmedAt'>('createdAt', 'blockchainAt', 'confirmedAt'),
  counterpartyClassification: fc.constantFrom<'current' | 'historical'>('current', 'historical'),
  folderClassification: fc.constantFrom<'current' | 'historical'>('current', 'historical'),
  comparison: fc.constantFrom('none', 'previous_period', 'previous_year'),
  breakdownBy: fc.constantFrom(undefined, 'owner'),
  reader: fc.constantFrom<'owner' | 'sharer' | 'admin' | 'adminForOwner' | 'adminForOther'>(
    'owner',
    'sharer',
    'admin',
    'adminForOwner',
    'adminForOther',
  ),
  // One query in five has a further filter: with more filters, hardly any operation would be left.
  statuses: fc.option(fc.subarray([...statuses], { minLength: 1 }), { nil: undefined, freq: 2 }),
  includeInternal: fc.constantFrom(undefined, undefined, 'true', 'false'),
  filter: fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    fc.record({ assets: fc.constantFrom('ETH', 'USDT') }),
    fc.record({
      minimumAmount: fc.constantFrom('0.00001', '1.5'),
      maximumAmount: maybe(fc.constantFrom('2', '100000')),
    }),
    fc.record({ sideIndex: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ isInitiatedByOwner: fc.constant(true) }),
    fc.record({ category: fc.integer({ min: 0, max: 1 }) }),
    fc.record({
      condition: fc.record({
        cities: fc.subarray(['Oslo', 'Rome'], { minLength: 1 }),
        cost: fc.constantFrom('1.00', '2.00'),
      }),
      conditionCategory: maybe(fc.integer({ min: 0, max: 1 })),
    }),
    fc.record({ isInFolder: fc.constant(true) }),
  ),
})
type Wanted = typeof requests extends fc.Arbitrary<infer Value> ? Value : never
type Filter = {
  assets?: string
  minimumAmount?: string
  maximumAmount?: string
  sideIndex?: number
  isInitiatedByOwner?: true
  category?: number
  condition?: { cities: string[]; cost: string }
  conditionCategory?: number
  isInFolder?: true
}

const decimalsOf = { usdt: 6, eth: 18 }
let year = 1980

describe('a report in comparison with a simple computation', () => {
  it('has every figure equal to a naive sum, and all blocks agree', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 30 }), requests, async (operations, wanted) => {
        // The year advances by two, because a run also writes into the year before its own.
        year += 2
        const start = Date.UTC(year, 9, 1)
        const folder = await addFolder(start)
        const meant = operations.map((drawn) => operationOf(drawn, start))
        for (const operation of meant) await write(operation)
        const query = queryOf(wanted, start, folder.id)
        const by = wanted.reader.startsWith('admin') ? world.admin : world.owner
        const body = await world.report('transaction_activity', query, by)
        const all = meant.filter((operation) => isVisible(operation, wanted) && isWanted(operation, wanted, folder))
        const within = all.filter((operation) => isIn(dateOf(operation, wanted), query.from!, query.to!))
        expectNaive(body, within, wanted)
        expectQuality(body, all, within, wanted, query)
        expectOwners(body, within, wanted, by.userId)
        expectComparison(body, all, within, wanted)
        expectAgreement(body, wanted)
        expectTimeline(body, within, query, wanted)
      }),
      { numRuns: runs, seed },
    )
  }, 240_000)
})

/** Creates a folder that contains `second` since the sixth day, and contained `own` from the third to the tenth. */
async function addFolder(start: number): Promise<Folder> {
  const id = newId()
  const on = (day: number) => new Date(start + day * dayMinutes * 60_000)
  await world.sql(
    `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at) values ($1, $2, 'Folder', $3, now(), now())`,
    [world.vault.id, id, world.owner.userId],
  )
  await world.sql(
    `insert into address_group_members (vault_id, group_id, address_id, created_at) values ($1, $2, $3, $4), ($1, $2, $5, $6)`,
    [world.vault.id, id, world.second.id, on(5), world.own.id, on(2)],
  )
  await world.sql(`delete from address_group_members where group_id = $1 and address_id = $2`, [id, world.own.id])
  await world.sql(`update address_group_membership_log set removed_at = $3 where group_id = $1 and address_id = $2`, [
    id,
    world.own.id,
    on(9),
  ])
  return {
    id,
    current: ({ place }) => place === 'second',
    historical: ({ place, at }) =>
      (place === 'second' && at >= on(5)) || (place === 'own' && at >= on(2) && at < on(9)),
  }
}
type Folder = { id: string; current(operation: Operation): boolean; historical(operation: Operation): boolean }

type Operation = Drawn & { at: Date; blockchainAt: Date | null; confirmedAt: Date | null; other: Side }
type Body = BodyOf<'get', '/vaults/v/reports/transaction_activity'>

function operationOf(drawn: Drawn, start: number): Operation {
  const at = new Date(start + drawn.minute * 60_000)
  const after = (minutes: number | null) => (minutes === null ? null : new Date(at.getTime() + minutes * 60_000))
  return {
    ...drawn,
    at,
    status: drawn.type === 'deposit' ? 'confirmed' : drawn.status,
    fee: drawn.type === 'deposit' ? null : drawn.fee,
    blockchainAt: after(drawn.blockchainDelay),
    confirmedAt: after(drawn.confirmedDelay),
    other: sides[drawn.isInternal ? 0 : drawn.side]!,
  }
}

async function write(operation: Operation): Promise<void> {
  const id = await world.add({
    type: operation.type,
    status: operation.status,
    token: operation.token,
    amount: formatDecimal(operation.raw, decimalsOf[operation.token]),
    rate: operation.rate,
    at: operation.at.toISOString(),
    flowType: operation.isInternal ? 'internal' : 'external',
    counterparty: operation.other.counterparty,
    ...(operation.other.otherSide === undefined ? {} : { otherSide: operation.other.otherSide }),
    address: world[operation.place],
    by: operation.byOwner ? world.owner : world.other,
    blockchainAt: operation.blockchainAt?.toISOString() ?? null,
    confirmedAt: operation.confirmedAt?.toISOString() ?? null,
    paymentPurpose: operation.paymentPurpose,
    note: operation.note,
    fee: operation.fee === null ? null : { amount: formatDecimal(operation.fee.raw, 18), rate: operation.fee.rate },
    isBooked: false,
  })
  for (const [index, { category, city, cost }] of operation.assigned.entries()) {
    await world.sql(
      `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
        assigned_by_id, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::int * interval '1 second', now())`,
      [
        world.vault.id,
        newId(),
        id,
        operation.type,
        operation.at,
        categories[category],
        JSON.stringify({ city, cost }),
        world.owner.userId,
        // Two assignments in the same millisecond would have no order.
        index,
      ],
    )
  }
}

function queryOf(wanted: Wanted, start: number, folderId: string): Record<string, string> {
  const { reader, statuses, filter, breakdownBy, includeInternal, ...plain } = wanted
  const { assets, minimumAmount, maximumAmount, sideIndex, isInitiatedByOwner, category, ...rest }: Filter = filter
  const { condition, conditionCategory, isInFolder } = rest
  const query: Record<string, string | undefined> = {
    ...plain,
    from: new Date(start).toISOString(),
    to: new Date(start + days * 86_400_000).toISOString(),
    breakdownBy,
    includeInternal,
    statuses: statuses?.join(','),
    includeShared: reader === 'sharer' ? 'true' : undefined,
    userId: { adminForOwner: world.owner.userId, adminForOther: world.other.userId }[reader as string],
    assets,
    minimumAmount,
    maximumAmount,
    counterpartyIds:
      sideIndex === undefined ? undefined : (sides[sideIndex]![wanted.counterpartyClassification] ?? 'none'),
    initiatorIds: isInitiatedByOwner ? world.owner.userId : undefined,
    categories: category === undefined ? undefined : categoryKeys[category],
    categoryField: condition === undefined ? undefined : `city:${condition.cities.join('|')},cost:${condition.cost}`,
    categoryKeys: conditionCategory === undefined ? undefined : categoryKeys[conditionCategory],
    folderIds: isInFolder ? folderId : undefined,
  }
  return Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

const isIn = (date: Date | null, from: string, to: string) =>
  date !== null && date >= new Date(from) && date < new Date(to)
const dateOf = (operation: Operation, { dateBasis }: Wanted) =>
  ({ createdAt: operation.at, blockchainAt: operation.blockchainAt, confirmedAt: operation.confirmedAt })[dateBasis]

function isVisible({ place, type, byOwner }: Operation, { reader }: Wanted): boolean {
  if (reader === 'admin' || reader === 'sharer') return true
  const [isOwners, ordered] = [place !== 'foreign', type === 'transfer']
  return reader === 'adminForOther' ? !isOwners || (ordered && !byOwner) : isOwners || (ordered && byOwner)
}

function isWanted(operation: Operation, wanted: Wanted, folder: Folder): boolean {
  const filter: Filter = wanted.filter
  const units = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  }
  const amount = operation.raw * 10n ** BigInt(18 - decimalsOf[operation.token])
  const chosen = wanted.counterpartyClassification
  const { condition, conditionCategory } = filter
  const isMet = ({ category, city, cost }: Assigned) =>
    (conditionCategory === undefined || category === conditionCategory) &&
    (condition === undefined || (condition.cities.includes(city) && cost === condition.cost))
  return (
    (wanted.statuses === undefined || wanted.statuses.includes(operation.status)) &&
    (wanted.includeInternal !== 'false' || !operation.isInternal) &&
    (filter.assets === undefined || filter.assets === operation.token.toUpperCase()) &&
    (filter.minimumAmount === undefined || amount >= units(filter.minimumAmount)) &&
    (filter.maximumAmount === undefined || amount <= units(filter.maximumAmount)) &&
    (filter.sideIndex === undefined || operation.other[chosen] === (sides[filter.sideIndex]![chosen] ?? 'none')) &&
    (!filter.isInitiatedByOwner || (operation.type === 'transfer' && operation.byOwner)) &&
    (filter.category === undefined || operation.assigned.some(({ category }) => category === filter.category)) &&
    (condition === undefined || operation.assigned.some(isMet)) &&
    (!filter.isInFolder || folder[wanted.folderClassification](operation))
  )
}

/** Returns USD in cents, rounded half to even, with big integers only. */
function centsOf({ raw, token, rate }: Pick<Operation, 'raw' | 'token' | 'rate'>): bigint {
  if (rate === null) return 0n
  const [whole = '', fraction = ''] = rate.split('.')
  return halfEven(raw * BigInt(whole + fraction) * 100n, 10n ** BigInt(decimalsOf[token] + fraction.length))
}

function halfEven(dividend: bigint, divisor: bigint): bigint {
  if (dividend < 0n) return -halfEven(-dividend, divisor)
  const twice = (dividend % divisor) * 2n
  const quotient = dividend / divisor
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient
}

const cents = (usd: string) => BigInt(usd.replace('.', ''))
const sum = <Item>(items: Item[], of: (item: Item) => bigint) => items.reduce((total, item) => total + of(item), 0n)
const isCounted = ({ status }: { status: string }, { statuses }: Wanted) =>
  statuses === undefined ? status === 'confirmed' : true
const grossOf = (operations: Operation[], wanted: Wanted) =>
  sum(
    operations.filter((operation) => isCounted(operation, wanted)),
    centsOf,
  )
/** The fees count whatever the status of their operation is, and have the decimals of ETH. */
const feesOf = (operations: Operation[]) => sum(operations, ({ fee }) => fee?.raw ?? 0n)
const feesUsdOf = (operations: Operation[]) =>
  sum(operations, ({ fee }) => (fee === null ? 0n : centsOf({ ...fee, token: 'eth' })))

const count = <Item>(items: Item[], is: (item: Item) => boolean) => items.filter(is).length

function expectNaive(body: Body, operations: Operation[], wanted: Wanted): void {
  const counted = operations.filter((operation) => isCounted(operation, wanted))
  const incoming = counted.filter(({ type }) => type === 'deposit')
  const outgoing = counted.filter(({ type }) => type === 'transfer')
  const { summary } = body
  expect(summary).toMatchObject({
    operationsCount: operations.length,
    incomingCount: count(operations, ({ type }) => type === 'deposit'),
    confirmedCount: count(operations, ({ status }) => status === 'confirmed'),
    pendingCount: count(operations, ({ status }) => status === 'pending'),
    awaitingApprovalCount: count(operations, ({ status }) => status === 'awaiting_approval'),
    rejectedCount: count(operations, ({ status }) => status === 'rejected'),
    cancelledCount: count(operations, ({ status }) => status === 'cancelled'),
    failedCount: count(operations, ({ status }) => status === 'failed'),
  })
  const instants = operations.map((operation) => dateOf(operation, wanted)!.getTime())
  const instant = (at: number) => (instants.length === 0 ? null : new Date(at).toISOString())
  expect(summary.firstOperationAt).toBe(instant(Math.min(...instants)))
  expect(summary.lastOperationAt).toBe(instant(Math.max(...instants)))
  expect(cents(summary.incomingUsd)).toBe(sum(incoming, centsOf))
  expect(cents(summary.outgoingUsd)).toBe(sum(outgoing, centsOf))
  expectFees(body, operations)
  for (const token of ['usdt', 'eth'] as const) {
    const asset = body.byAsset.find((row) => row.assetCode === token.toUpperCase())
    const ofToken = operations.filter((operation) => operation.token === token)
    if (ofToken.length === 0) {
      expect(asset).toBeUndefined()
      continue
    }
    const raw = counted.filter((operation) => operation.token === token).map((operation) => operation.raw)
    raw.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const text = (amount: bigint, extra = 0) => formatDecimal(amount, decimalsOf[token] + extra)
    const gross = sum(raw, (amount) => amount)
    expect(asset!.operationsCount).toBe(ofToken.length)
    expect(asset!.grossTurnover).toBe(text(gross))
    const twoMiddles = (raw[Math.floor((raw.length - 1) / 2)] ?? 0n) + (raw[Math.floor(raw.length / 2)] ?? 0n)
    expect(asset!.medianAmount).toBe(raw.length === 0 ? null : text(twoMiddles * 5n, 1))
    expect(asset!.averageAmount).toBe(raw.length === 0 ? null : text(halfEven(gross, BigInt(raw.length))))
    expect(asset!.minimumAmount).toBe(raw.length === 0 ? null : text(raw[0]!))
    expect(asset!.maximumAmount).toBe(raw.length === 0 ? null : text(raw.at(-1)!))
  }
  const parts = <Row extends Record<Count, number> & Record<Usd, string>, Count extends string, Usd extends string>(
    rows: Row[],
    keyOf: (row: Row) => unknown,
    counts: Count,
    usd: Usd,
  ) => rows.map((row) => [keyOf(row), row[counts], cents(row[usd])]).sort(byText)
  const naive = (keyOf: (operation: Operation) => unknown) =>
    [...groupBy(operations, keyOf)].map(([key, of]) => [key, of.length, grossOf(of, wanted)]).sort(byText)
  const sideOf = ({ other }: Operation) => other[wanted.counterpartyClassification]
  expect(parts(body.byCounterparty, (row) => row.counterpartyId, 'operationsCount', 'grossTurnoverUsd')).toEqual(
    naive(sideOf),
  )
  for (const { counterpartyId, name } of body.byCounterparty) {
    expect(name).toBe(counterpartyId === null ? null : names[counterpartyId])
  }
  expect(parts(body.byOwnAddress, (row) => row.addressId, 'operationsCount', 'grossTurnoverUsd')).toEqual(
    naive(({ place }) => world[place].id),
  )
  expect(parts(body.byCategory, (row) => row.category, 'count', 'usdValue')).toEqual(
    naive(({ assigned: [first] }) => (first === undefined ? null : categoryKeys[first.category])),
  )
  const byStatus = [...groupBy(operations, ({ status }) => status)]
  expect(parts(body.byStatus, (row) => row.status, 'count', 'usdValue')).toEqual(
    byStatus.map(([status, of]) => [status, of.length, sum(of, centsOf)]).sort(byText),
  )
}

function expectFees(body: Body, operations: Operation[]): void {
  const { summary } = body
  const inEth = (raw: bigint) => (raw === 0n ? [] : [{ assetCode: 'ETH', amount: formatDecimal(raw, 18) }])
  expect(summary.feesByAsset).toMatchObject(inEth(feesOf(operations)))
  expect(cents(summary.feesUsd)).toBe(feesUsdOf(operations))
  for (const row of body.byCategory) {
    const ofCategory = operations.filter(({ assigned: [first] }) =>
      row.category === null
        ? first === undefined
        : first !== undefined && categoryKeys[first.category] === row.category,
    )
    expect([row.feesByAsset.length, cents(row.feesUsd)]).toEqual([
      inEth(feesOf(ofCategory)).length,
      feesUsdOf(ofCategory),
    ])
    expect(row.feesByAsset).toMatchObject(inEth(feesOf(ofCategory)))
  }
  for (const row of body.byAsset) {
    const ofToken = operations.filter(({ token }) => token.toUpperCase() === row.assetCode)
    expect(row).toMatchObject({ fees: formatDecimal(feesOf(ofToken), 18), feeAsset: 'ETH' })
    expect(cents(row.feesUsd)).toBe(feesUsdOf(ofToken))
  }
}

function groupBy<Item, Key>(items: Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

const byText = ([a]: unknown[], [b]: unknown[]) => (String(a) < String(b) ? -1 : 1)

function expectQuality(
  body: Body,
  all: Operation[],
  operations: Operation[],
  wanted: Wanted,
  { from, to }: Record<string, string>,
): void {
  const { historical, current } = {
    historical: ({ other }: Operation) => other.historical,
    current: ({ other }: Operation) => other.current,
  }
  const chosen = wanted.counterpartyClassification === 'current' ? current : historical
  expect(body.dataQuality).toEqual({
    totalOperations: operations.length,
    unmatchedOperations: count(operations, (operation) => !operation.isInternal && chosen(operation) === null),
    retroactivelyMatchedOperations: count(
      operations,
      (operation) => historical(operation) === null && current(operation) !== null,
    ),
    conflictingCounterpartyClassifications: count(
      operations,
      (operation) =>
        historical(operation) !== null && current(operation) !== null && historical(operation) !== current(operation),
    ),
    operationsWithoutUsdRate: count(operations, ({ rate }) => rate === null),
    feesWithoutUsdRate: count(operations, ({ fee }) => fee !== null && fee.rate === null),
    operationsWithoutSelectedDate: count(
      all,
      (operation) => dateOf(operation, wanted) === null && isIn(operation.at, from!, to!),
    ),
    operationsWithoutBlockchainTime: count(
      operations,
      ({ status, blockchainAt }) => status === 'confirmed' && blockchainAt === null,
    ),
    operationsWithoutPaymentPurpose: count(operations, ({ paymentPurpose }) => paymentPurpose !== 'Invoice'),
    operationsWithoutBusinessReference: count(operations, ({ note }) => note === null),
    uncategorizedOperations: count(operations, ({ assigned }) => assigned.length === 0),
    invalidOperationRelations: 0,
    missingLedgerEntries: operations.length,
    ledgerReconciliationDifferences: 0,
  })
}

function expectOwners(body: Body, operations: Operation[], wanted: Wanted, readerId: string): void {
  if (wanted.breakdownBy === undefined) {
    expect(body).not.toHaveProperty('byAddressOwner')
    return
  }
  const ownerOf = ({ place }: Operation) => (place === 'foreign' ? world.other.userId : world.owner.userId)
  const naive = [...groupBy(operations, ownerOf)].map(([id, of]) => [
    id,
    of.length,
    grossOf(of, wanted),
    id === readerId,
  ])
  const rows = body.byAddressOwner.map((row) => [
    row.ownerId,
    row.operationsCount,
    cents(row.grossTurnoverUsd),
    row.isMe,
  ])
  expect(rows.sort(byText)).toEqual(naive.sort(byText))
}

function expectComparison({ comparison }: Body, all: Operation[], operations: Operation[], wanted: Wanted): void {
  expect(comparison.mode).toBe(wanted.comparison)
  if (wanted.comparison === 'none') {
    expect(comparison.previousFrom).toBeNull()
    return
  }
  const { previousFrom, previousTo, mode: _, ...changes } = comparison
  const figuresOf = (of: Operation[]) => {
    const counted = of.filter((operation) => isCounted(operation, wanted))
    const isRated = ({ rate }: Operation) => rate !== null
    // The sum is null when there are values and all of them are unknown.
    const usdOf = (counted: Operation[]) =>
      counted.length > 0 && !counted.some(isRated) ? null : sum(counted, centsOf)
    const [incoming, outgoing] = ['deposit', 'transfer'].map((type) =>
      usdOf(counted.filter((operation) => operation.type === type)),
    )
    const rated = BigInt(count(counted, isRated))
    return { incoming, outgoing, gross: usdOf(counted), operations: BigInt(of.length), rated }
  }
  const [now, before] = [
    figuresOf(operations),
    figuresOf(all.filter((operation) => isIn(dateOf(operation, wanted), previousFrom!, previousTo!))),
  ]
  const change = (a?: bigint | null, b?: bigint | null) =>
    a == null || b == null || b === 0n ? null : Number(halfEven((a - b) * 10_000n, b)) / 100
  expect(changes).toEqual({
    incomingUsdChangePercent: change(now.incoming, before.incoming),
    outgoingUsdChangePercent: change(now.outgoing, before.outgoing),
    grossTurnoverUsdChangePercent: change(now.gross, before.gross),
    operationsCountChangePercent: change(now.operations, before.operations),
    averageOperationUsdChangePercent:
      now.rated === 0n || before.rated === 0n ? null : change(now.gross! * before.rated, before.gross! * now.rated),
  })
}

/** The entries of every breakdown add up to the whole. */
function expectAgreement(body: Body, wanted: Wanted): void {
  const { summary } = body
  const gross = cents(summary.grossTurnoverUsd)
  const usdOf = <Field extends string>(rows: Record<Field, string>[], field: Field) =>
    sum(rows, (row) => cents(row[field]))
  const countOf = <Field extends string>(rows: Record<Field, number>[], field: Field) =>
    rows.reduce((total: number, row) => total + row[field], 0)
  expect(cents(summary.incomingUsd) + cents(summary.outgoingUsd)).toBe(gross)
  expect(cents(summary.incomingUsd) - cents(summary.outgoingUsd)).toBe(cents(summary.netFlowUsd))
  for (const block of ['byAsset', 'byCounterparty', 'byOwnAddress'] as const) {
    expect(usdOf(body[block], 'grossTurnoverUsd'), block).toBe(gross)
    expect(countOf(body[block], 'operationsCount'), block).toBe(summary.operationsCount)
  }
  for (const field of ['incomingUsd', 'outgoingUsd', 'netFlowUsd'] as const) {
    expect(usdOf(body.byAsset, field), field).toBe(cents(summary[field]))
    expect(usdOf(body.timeline, field), field).toBe(cents(summary[field]))
  }
  expect(usdOf(body.byCategory, 'usdValue')).toBe(gross)
  for (const rows of [body.byAsset, body.byCategory]) expect(usdOf(rows, 'feesUsd')).toBe(cents(summary.feesUsd))
  expect(countOf(body.byCategory, 'count')).toBe(summary.operationsCount)
  expect(countOf(body.byStatus, 'count')).toBe(summary.operationsCount)
  const counting = body.byStatus.filter((row) => isCounted(row, wanted))
  expect(usdOf(counting, 'usdValue')).toBe(gross)
  for (const { tokenId, amount } of summary.grossTurnoverByAsset) {
    const parts = counting.flatMap((row) => row.amountsByAsset.filter((part) => part.tokenId === tokenId))
    expect(addDecimals(parts.map((part) => part.amount))).toBe(addDecimals([amount]))
  }
  if (wanted.breakdownBy === 'owner') {
    expect(usdOf(body.byAddressOwner, 'grossTurnoverUsd')).toBe(gross)
    expect(countOf(body.byAddressOwner, 'operationsCount')).toBe(summary.operationsCount)
  }
  expect(countOf(body.timeline, 'operationsCount')).toBe(summary.operationsCount)
  expect(summary.incomingCount + summary.outgoingCount).toBe(summary.operationsCount)
  expect(body.dataQuality.totalOperations).toBe(summary.operationsCount)
  for (const block of ['byCounterparty', 'byOwnAddress', 'byCategory', 'timeline'] as const) {
    for (const direction of ['incoming', 'outgoing'] as const) {
      for (const { tokenId, amount } of summary[`${direction}AmountByAsset`]) {
        const parts = body[block].flatMap((row) =>
          row[`${direction}ByAsset`].filter((part) => part.tokenId === tokenId),
        )
        expect(addDecimals(parts.map((part) => part.amount)), `${block} ${direction}`).toBe(addDecimals([amount]))
      }
    }
  }
}

const addDecimals = (amounts: string[]) =>
  sum(amounts, (amount) => {
    const [whole = '', fraction = ''] = amount.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  })

/** Buckets cover the interval without a gap, and each holds the operations of its period. */
function expectTimeline(
  body: Body,
  operations: Operation[],
  { from, to, timezone, groupBy }: Record<string, string>,
  wanted: Wanted,
): void {
  const at = (operation: Operation) => dateOf(operation, wanted)!
  const { timeline } = body
  expect(timeline[0]!.periodStart).toBe(from)
  expect(timeline.at(-1)!.periodEnd).toBe(to)
  for (const [i, { periodStart, periodEnd, operationsCount, incomingUsd }] of timeline.entries()) {
    if (i > 0) expect(periodStart).toBe(timeline[i - 1]!.periodEnd)
    const inside = operations.filter((operation) => isIn(at(operation), periodStart, periodEnd))
    expect(operationsCount).toBe(inside.length)
    expect(cents(incomingUsd)).toBe(
      sum(
        inside.filter((operation) => operation.type === 'deposit' && isCounted(operation, wanted)),
        centsOf,
      ),
    )
    if (i === 0) continue
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone!, weekday: 'short', day: '2-digit' })
    const parts = Object.fromEntries(clock.formatToParts(new Date(periodStart)).map(({ type, value }) => [type, value]))
    if (groupBy === 'week') expect(parts.weekday).toBe('Mon')
    if (groupBy === 'month') expect(parts.day).toBe('01')
  }
  const activeDays = new Set(
    operations.map((operation) => new Intl.DateTimeFormat('en-CA', { timeZone: timezone! }).format(at(operation))),
  )
  expect(body.summary.activeDays).toBe(activeDays.size)
}
