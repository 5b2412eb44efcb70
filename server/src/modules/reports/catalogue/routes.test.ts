import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { AccountStatementReport, OperationsExceptionsReport, ReportDataQuality } from '../../../testing/answer.ts'
import { countSessionsWaiting, untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createReportWorld, type OperationDraft, type ReportWorld } from '../../../testing/report-world.ts'

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

/** Every test has its own month, which contains only the operations of the test. */
let year = 2000
let month: { from: string; to: string; on(day: number, time?: string): string }
beforeEach(() => {
  year += 1
  const ofYear = year
  month = {
    from: `${ofYear}-03-01`,
    to: `${ofYear}-04-01`,
    on: (day, time = '12:00') => `${ofYear}-03-${String(day).padStart(2, '0')}T${time}:00.000Z`,
  }
})
const interval = () => ({ from: month.from, to: month.to })
const ofOwn = () => ({ addressId: world.own.id, ...interval() })
const add = (draft: OperationDraft) => world.add(draft)

/** Returns the ids that operations_exceptions lists for a figure. */
async function exceptionsOf(figure: keyof ReportDataQuality, query: Record<string, string> = {}): Promise<string[]> {
  const body = await world.report('operations_exceptions', {
    ...interval(),
    ...query,
    exceptions: figure,
    limit: '100',
  })
  expect(body.items.length, figure).toBe(body.dataQuality[figure])
  return body.items.map((item) => item.id).sort()
}

async function addCategory(key: string, viewScope = 'vault_members', editScope = 'vault_members'): Promise<string> {
  const id = newId()
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, $3, $3, 'both', $4, 'vault_members', $6, 'none', 0, false, $5, $5, now(), now())`,
    [world.vault.id, id, key, viewScope, world.admin.userId, editScope],
  )
  return id
}

async function addField(categoryId: string, key: string, type: string, more: Record<string, unknown> = {}) {
  await world.sql(
    `insert into category_fields (vault_id, id, category_id, key, label, type, required, sensitive, order_index, created_at,
      updated_at, scale, currency_field_key, unit)
    values ($1, $2, $3, $4, $4, $5, false, $6, 0, now(), now(), $7, $8, $9)`,
    [
      world.vault.id,
      newId(),
      categoryId,
      key,
      type,
      more.sensitive ?? false,
      more.scale ?? null,
      more.currencyFieldKey ?? null,
      more.unit ?? null,
    ],
  )
}

async function assign(operationId: string, categoryId: string, values: Record<string, string> = {}): Promise<void> {
  await world.sql(
    `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
      assigned_by_id, created_at, updated_at)
    select vault_id, $3, id, type, created_at, $4, $5, $6, now(), now() from operations where vault_id = $1 and id = $2`,
    [world.vault.id, operationId, newId(), categoryId, JSON.stringify(values), world.owner.userId],
  )
}

async function addFolder(name: string, by: string): Promise<string> {
  const id = newId()
  await world.sql(
    `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at) values ($1, $2, $3, $4, now(), now())`,
    [world.vault.id, id, name, by],
  )
  return id
}

const putInto = (folderId: string, addressId: string, since: string) =>
  world.sql(`insert into address_group_members (vault_id, group_id, address_id, created_at) values ($1, $2, $3, $4)`, [
    world.vault.id,
    folderId,
    addressId,
    since,
  ])
const takeOut = async (folderId: string, addressId: string, at: string) => {
  await world.sql(`delete from address_group_members where group_id = $1 and address_id = $2`, [folderId, addressId])
  const [logged] = await world.sql(
    `select removed_at from address_group_membership_log where group_id = $1 and address_id = $2`,
    [folderId, addressId],
  )
  expect(logged.removed_at).toBeInstanceOf(Date)
  // The test is about the past, but audit records are made now.
  await world.sql(`update address_group_membership_log set removed_at = $3 where group_id = $1 and address_id = $2`, [
    folderId,
    addressId,
    at,
  ])
}

describe('address_activity', () => {
  it('returns exact figures', async () => {
    const supplier = await world.addCounterparty('Supplier')
    await add({ at: month.on(1, '00:00'), amount: '100.000001', counterparty: supplier, paymentPurpose: 'Invoice 1' })
    await add({ at: month.on(1), amount: '50' })
    await add({ at: month.on(2), amount: '1', token: 'eth', rate: '2000.5', note: 'Sold' })
    await add({ type: 'transfer', at: month.on(3), amount: '30.5', counterparty: supplier, rate: '0.999' })
    await add({ type: 'transfer', at: month.on(3), amount: '7', status: 'failed' })
    await add({ type: 'transfer', at: month.on(31, '23:59'), amount: '9', status: 'awaiting_approval' })
    const query = { ...ofOwn(), groupBy: 'week' }
    const body = await world.report('address_activity', query)
    expect(Object.keys(body)).toEqual([
      'report',
      'summary',
      'byAsset',
      'byCounterparty',
      'byOwnAddress',
      'byStatus',
      'byCategory',
      'timeline',
      'approvals',
      'observations',
      'dataQuality',
      'comparison',
    ])
    expect(body.report).toMatchObject({
      type: 'address_activity',
      from: `${month.from}T00:00:00.000Z`,
      to: `${month.to}T00:00:00.000Z`,
      timezone: 'UTC',
      dateBasis: 'createdAt',
      baseCurrency: 'USD',
      classificationMode: 'current',
      schemaVersion: '1',
      generatedById: world.owner.userId,
    })
    expect(body.summary).toMatchObject({
      operationsCount: 6,
      incomingCount: 3,
      outgoingCount: 3,
      confirmedCount: 4,
      awaitingApprovalCount: 1,
      failedCount: 1,
      activeDays: 4,
      incomingUsd: '2150.50',
      outgoingUsd: '30.47',
      grossTurnoverUsd: '2180.97',
      netFlowUsd: '2120.03',
      firstOperationAt: month.on(1, '00:00'),
      lastOperationAt: month.on(31, '23:59'),
    })
    // The figures are (100.000001 + 50 + 30.5) / 3 and the middle value of the three.
    expect(body.byAsset.map((asset) => [asset.assetCode, asset.averageAmount, asset.medianAmount])).toEqual([
      ['ETH', '1', '1'],
      ['USDT', '60.166667', '50'],
    ])
    expect(body.byCounterparty).toMatchObject([
      { counterpartyId: null, grossTurnoverUsd: '2050.50', operationsCount: 4 },
      {
        counterpartyId: supplier.id,
        name: 'Supplier',
        kind: 'company',
        grossTurnoverUsd: '130.47',
        netFlowUsd: '69.53',
      },
    ])
    expect(body.byOwnAddress).toMatchObject([
      {
        addressId: world.own.id,
        address: world.own.address,
        label: 'Treasury',
        derivationPath: 'm/44/60/1/0',
        operationsCount: 6,
      },
    ])
    expect(body.dataQuality).toEqual({
      totalOperations: 6,
      unmatchedOperations: 4,
      retroactivelyMatchedOperations: 0,
      operationsWithoutUsdRate: 0,
      feesWithoutUsdRate: 0,
      operationsWithoutSelectedDate: 0,
      operationsWithoutBlockchainTime: 0,
      operationsWithoutPaymentPurpose: 5,
      operationsWithoutBusinessReference: 5,
      uncategorizedOperations: 6,
      conflictingCounterpartyClassifications: 0,
      invalidOperationRelations: 0,
      missingLedgerEntries: 0,
      ledgerReconciliationDifferences: 0,
    })
    expect(body.comparison.mode).toBe('none')
    expect(body).not.toHaveProperty('byAddressOwner')
  })

  it('includes from, excludes to, and cuts days at the midnights of the zone', async () => {
    await add({ at: month.on(1, '22:59'), amount: '1' })
    await add({ at: month.on(1, '23:00'), amount: '2' })
    await add({ at: month.on(2, '22:59'), amount: '4' })
    await add({ at: month.on(2, '23:00'), amount: '8' })
    const query = { addressId: world.own.id, timezone: 'Europe/Berlin', from: `${year}-03-02`, to: `${year}-03-04` }
    const body = await world.report('address_activity', query)
    expect(body.timeline.map(({ periodStart, incomingUsd }) => [periodStart, incomingUsd])).toEqual([
      [month.on(1, '23:00'), '6.00'],
      [month.on(2, '23:00'), '8.00'],
    ])
    const exact = { addressId: world.own.id, from: month.on(1, '23:00'), to: month.on(2, '23:00') }
    expect((await world.report('address_activity', exact)).summary.incomingUsd).toBe('6.00')
  })

  it('uses the requested date, and counts operations without it', async () => {
    await add({ at: month.on(1), amount: '1', blockchainAt: `${year}-02-27T00:00:00Z` })
    await add({ at: month.on(2), amount: '2', blockchainAt: month.on(20), confirmedAt: `${year}-04-02T00:00:00Z` })
    const undated = await add({ at: month.on(3), amount: '4', blockchainAt: null })
    await add({ type: 'transfer', at: month.on(4), amount: '8', status: 'pending' })
    const of = async (dateBasis: string) => {
      const { summary, dataQuality } = await world.report('address_activity', { ...ofOwn(), dateBasis })
      return [summary.operationsCount, summary.incomingUsd, dataQuality.operationsWithoutSelectedDate]
    }
    expect(await of('createdAt')).toEqual([4, '7.00', 0])
    expect(await of('blockchainAt')).toEqual([1, '2.00', 2])
    expect(await of('confirmedAt')).toEqual([2, '5.00', 1])
    expect(await exceptionsOf('operationsWithoutBlockchainTime')).toEqual([undated])
    expect(await exceptionsOf('operationsWithoutSelectedDate', { dateBasis: 'blockchainAt' })).toHaveLength(2)
  })

  it('sums the statuses of the filter, and accepts lists in both spellings', async () => {
    await add({ type: 'transfer', at: month.on(1), amount: '1' })
    await add({ type: 'transfer', at: month.on(2), amount: '2', status: 'failed' })
    await add({ type: 'transfer', at: month.on(3), amount: '4', status: 'pending' })
    const body = await world.report('address_activity', { ...ofOwn(), statuses: 'failed,pending' })
    expect(body.summary).toMatchObject({ operationsCount: 2, outgoingUsd: '6.00' })
    expect(body.byStatus.map(({ status, count }) => [status, count])).toEqual([
      ['pending', 1],
      ['failed', 1],
    ])
    const repeated = new URLSearchParams([...Object.entries(ofOwn()), ['statuses', 'failed'], ['statuses', 'pending']])
    const { body: same } = await world.owner.get(`/vaults/${world.vault.code}/reports/address_activity?${repeated}`)
    expect(same.summary).toEqual(body.summary)
  })

  it('filters by token, network, amount, flow, counterparty and initiator', async () => {
    const buyer = await world.addCounterparty('Buyer')
    await add({ at: month.on(1), amount: '1', counterparty: buyer })
    await add({ at: month.on(1), amount: '0.5', token: 'eth', rate: '2' })
    await add({ at: month.on(2), amount: '4', flowType: 'internal' })
    await add({ type: 'transfer', at: month.on(3), amount: '8' })
    const grossOf = async (query: Record<string, string>) =>
      (await world.report('address_activity', { ...ofOwn(), ...query })).summary.grossTurnoverUsd
    expect(await grossOf({})).toBe('14.00')
    expect(await grossOf({ assets: 'ETH' })).toBe('1.00')
    expect(await grossOf({ assets: 'ETH,USDT' })).toBe('14.00')
    expect(await grossOf({ tokenIds: world.vault.tokens.usdt.id })).toBe('13.00')
    expect(await grossOf({ networkIds: 'ethereum' })).toBe('14.00')
    expect(await grossOf({ networkIds: world.vault.networks.ethereum.id })).toBe('14.00')
    expect(await grossOf({ networkIds: 'bitcoin' })).toBe('0.00')
    // The values are compared in token units: half a coin is less than one dollar.
    expect(await grossOf({ minimumAmount: '1' })).toBe('13.00')
    expect(await grossOf({ minimumAmount: '0.5', maximumAmount: '4' })).toBe('6.00')
    expect(await grossOf({ maximumAmount: '0.500000000000000001' })).toBe('1.00')
    expect(await grossOf({ includeInternal: 'false' })).toBe('10.00')
    expect(await grossOf({ flowTypes: 'internal' })).toBe('4.00')
    expect(await grossOf({ flowTypes: 'internal', includeInternal: 'false' })).toBe('0.00')
    expect(await grossOf({ counterpartyIds: buyer.id })).toBe('1.00')
    expect(await grossOf({ counterpartyAddressIds: buyer.addressId })).toBe('1.00')
    expect(await grossOf({ initiatorIds: world.owner.userId })).toBe('8.00')
    expect(await grossOf({ ownAddressIds: world.second.id })).toBe('0.00')
    expect(await grossOf({ addressIds: `${world.second.id},${world.own.id}` })).toBe('14.00')
    expect(await grossOf({ tokenIds: 'no-such-token' })).toBe('0.00')
  })

  it('classifies by the present address book, or by the recorded one', async () => {
    const early = await world.addCounterparty('Early')
    const moved = await world.addCounterparty('Moved')
    const late = await world.addCounterparty('Late', `${year}-06-01T00:00:00.000Z`)
    const known = await add({ at: month.on(1), amount: '1', counterparty: early })
    const gone = await add({ type: 'transfer', at: month.on(2), amount: '2', counterparty: moved })
    const found = await add({ at: month.on(3), amount: '4', otherSide: late.address.toUpperCase().replace('0X', '0x') })
    const foundOut = await add({ type: 'transfer', at: month.on(4), amount: '8', otherSide: late.address })
    const taken = await add({ at: month.on(5), amount: '16', counterparty: moved })
    // The address of Moved becomes an address of Late; the address of Early stays.
    await world.removeCounterpartyAddress(moved.addressId)
    await world.sql(`update counterparty_addresses set address = $2, address_key = lower($2) where id = $1`, [
      late.addressId,
      late.address,
    ])
    const takenOver = newId()
    await world.sql(
      'insert into counterparty_addresses (vault_id, id, counterparty_id, network_id, address, address_key, created_at) ' +
        'values ($1,$2,$3,$4,$5,lower($5),$6)',
      [
        world.vault.id,
        takenOver,
        late.id,
        world.vault.networks.ethereum.id,
        moved.address,
        `${year}-06-02T00:00:00.000Z`,
      ],
    )
    const by = async (counterpartyClassification: string) => {
      const body = await world.report('address_activity', { ...ofOwn(), counterpartyClassification })
      const usd = Object.fromEntries(body.byCounterparty.map((row) => [row.name ?? 'nobody', row.grossTurnoverUsd]))
      const { unmatchedOperations, retroactivelyMatchedOperations, conflictingCounterpartyClassifications } =
        body.dataQuality
      return [usd, unmatchedOperations, retroactivelyMatchedOperations, conflictingCounterpartyClassifications]
    }
    expect(await by('current')).toEqual([{ Early: '1.00', Late: '30.00' }, 0, 2, 2])
    expect(await by('historical')).toEqual([{ Early: '1.00', Moved: '18.00', nobody: '12.00' }, 2, 2, 2])
    expect(await exceptionsOf('retroactivelyMatchedOperations')).toEqual([found, foundOut].sort())
    expect(await exceptionsOf('conflictingCounterpartyClassifications')).toEqual([gone, taken].sort())
    expect(await exceptionsOf('unmatchedOperations', { counterpartyClassification: 'historical' })).toEqual(
      [found, foundOut].sort(),
    )

    const countOf = async (id: string, counterpartyClassification: string) => {
      const query = { ...interval(), counterpartyId: id, counterpartyClassification }
      return (await world.report('counterparty_activity', query)).summary.operationsCount
    }
    expect(await countOf(late.id, 'current')).toBe(4)
    expect(await countOf(late.id, 'historical')).toBe(0)
    expect(await countOf(moved.id, 'current')).toBe(0)
    expect(await countOf(moved.id, 'historical')).toBe(2)
    expect(await countOf(early.id, 'current')).toBe(1)

    // Without another entry for the address, the other side has no counterparty again.
    await world.removeCounterpartyAddress(takenOver)
    expect(await by('current')).toEqual([{ Early: '1.00', Late: '12.00', nobody: '18.00' }, 2, 2, 0])
    expect(await exceptionsOf('unmatchedOperations')).toEqual([gone, taken].sort())
    expect(known).not.toBe(gone)
  })

  it('uses the present folders, or the past ones', async () => {
    const was = await addFolder('Was', world.owner.userId)
    const is = await addFolder('Is', world.owner.userId)
    await putInto(was, world.own.id, month.on(1, '00:00'))
    await add({ at: month.on(5), amount: '1' })
    await add({ at: month.on(15), amount: '2' })
    await takeOut(was, world.own.id, month.on(10))
    await putInto(is, world.own.id, month.on(20))
    const of = async (query: Record<string, string>) => {
      const body = await world.report('address_activity', { ...interval(), ...query })
      return [
        body.summary.grossTurnoverUsd,
        body.byOwnAddress[0]?.folderSnapshots.map(({ name }: { name: string }) => name),
      ]
    }
    expect(await of({ folderId: is })).toEqual(['3.00', ['Is']])
    expect(await of({ folderId: was })).toEqual(['0.00', undefined])
    expect(await of({ folderId: was, folderClassification: 'historical' })).toEqual(['1.00', ['Was']])
    expect(await of({ folderId: is, folderClassification: 'historical' })).toEqual(['0.00', undefined])
    expect(await of({ addressId: world.own.id })).toEqual(['3.00', ['Is']])
    expect(await of({ addressId: world.own.id, folderClassification: 'historical' })).toEqual(['3.00', ['Was']])
    expect(await of({ addressId: world.own.id, folderIds: was, folderClassification: 'historical' })).toEqual([
      '1.00',
      ['Was'],
    ])
    await world.sql(`delete from address_groups where id = $1`, [was])
    // The manager can still use the folder under its last name; for other members it never existed.
    expect(await of({ addressId: world.own.id, folderClassification: 'historical' })).toEqual(['3.00', ['Was']])
    await world.sql(`delete from address_groups where id = $1`, [is])
  })

  it('holds field conditions against one assignment, in canonical form', async () => {
    const travel = await addCategory(`travel${year}`)
    const meals = await addCategory(`meals${year}`)
    for (const category of [travel, meals]) {
      await addField(category, `city${year}`, 'text')
      await addField(category, `cost${year}`, 'number', { scale: 2 })
    }
    const both = await add({ at: month.on(1), amount: '1' })
    await assign(both, travel, { [`city${year}`]: 'Oslo', [`cost${year}`]: '5.00' })
    await assign(both, meals, { [`city${year}`]: 'Rome', [`cost${year}`]: '7.00' })
    const single = await add({ at: month.on(2), amount: '2' })
    await assign(single, travel, { [`city${year}`]: 'Rome', [`cost${year}`]: '5.00' })
    await add({ at: month.on(3), amount: '4' })
    const usdOf = async (query: Record<string, string>) =>
      (await world.report('address_activity', { ...ofOwn(), ...query })).summary.incomingUsd
    expect(await usdOf({ categoryField: `city${year}:Oslo,cost${year}:5.00` })).toBe('1.00')
    // Rome and 5.00 are on two assignments of the first operation, and on one of the second.
    expect(await usdOf({ categoryField: `city${year}:Rome,cost${year}:5.00` })).toBe('2.00')
    expect(await usdOf({ categoryField: `city${year}:Rome|Oslo` })).toBe('3.00')
    expect(await usdOf({ categoryField: `cost${year}:5` })).toBe('0.00')
    expect(await usdOf({ categoryField: `city${year}:Rome`, categoryKeys: `travel${year}` })).toBe('2.00')
    expect(await usdOf({ categoryKeys: `meals${year},travel${year}` })).toBe('3.00')
    expect(await usdOf({ categories: `meals${year}` })).toBe('1.00')
    const { byCategory, dataQuality } = await world.report('address_activity', ofOwn())
    // The order is by the first category of each operation.
    expect(byCategory.map(({ category, count }) => [category, count])).toEqual([
      [null, 1],
      [`travel${year}`, 2],
    ])
    expect(dataQuality.uncategorizedOperations).toBe(1)
    expect(await exceptionsOf('uncategorizedOperations')).toHaveLength(1)
    const unknown = await world.get('address_activity', { ...ofOwn(), categoryField: 'no_such_key:1' })
    expect([unknown.status, unknown.body.details[0]!.field]).toEqual([400, 'categoryField'])
  })

  it('compares with the period or the year before', async () => {
    await add({ at: month.on(10), amount: '150' })
    await add({ at: `${year}-02-10T00:00:00Z`, amount: '100' })
    await add({ at: `${year - 1}-03-05T00:00:00Z`, amount: '300' })
    const compare = async (comparison: string) =>
      (await world.report('address_activity', { ...ofOwn(), comparison })).comparison
    expect(await compare('previous_period')).toMatchObject({
      mode: 'previous_period',
      previousFrom: `${year}-02-01T00:00:00.000Z`,
      previousTo: `${month.from}T00:00:00.000Z`,
      incomingUsdChangePercent: 50,
      outgoingUsdChangePercent: null,
      operationsCountChangePercent: 0,
      averageOperationUsdChangePercent: 50,
    })
    const { previousFrom, previousTo } = await compare('previous_year')
    expect([previousFrom, previousTo]).toEqual([`${year - 1}-03-01T00:00:00.000Z`, `${year - 1}-04-01T00:00:00.000Z`])
  })

  it('returns no change where every value is unknown, before or now', async () => {
    const compare = async () =>
      (await world.report('address_activity', { ...ofOwn(), comparison: 'previous_period' })).comparison
    const unknown = {
      incomingUsdChangePercent: null,
      grossTurnoverUsdChangePercent: null,
      averageOperationUsdChangePercent: null,
    }
    await add({ at: `${year}-02-10T00:00:00Z`, amount: '100' })
    await add({ at: month.on(10), amount: '150', rate: null })
    expect(await compare()).toMatchObject({ ...unknown, operationsCountChangePercent: 0 })
    await add({ at: month.on(11), amount: '50' })
    // The known values are compared as the sums have them.
    expect(await compare()).toMatchObject({ incomingUsdChangePercent: -50, grossTurnoverUsdChangePercent: -50 })
  })

  it('returns the waiting times of approvals', async () => {
    const addDecided = async (
      status: 'pending' | 'rejected' | 'awaiting_approval',
      minutes: number | null,
      day: number,
    ) => {
      const id = await add({ type: 'transfer', at: month.on(day), amount: '1', status })
      await world.sql(
        `insert into approval_requirements (vault_id, subject_id, policy_id, policy_code, policy_name, threshold, allow_initiator,
          created_at)
        values ($1, $2, 'cpolicy0000000000000000${String(year % 100).padStart(2, '0')}', 'large', 'Large', 1, false, $3)`,
        [world.vault.id, id, month.on(day)],
      )
      const votedAt = minutes === null ? null : new Date(Date.parse(month.on(day)) + minutes * 60_000)
      await world.sql(
        'insert into approval_voters (vault_id, id, subject_id, user_id, decision, voted_at, created_at) values ($1, ' +
          '$2, $3, $4, $5, $6, $7)',
        [
          world.vault.id,
          newId(),
          id,
          world.admin.userId,
          votedAt === null ? null : status === 'rejected' ? 'reject' : 'approve',
          votedAt,
          month.on(day),
        ],
      )
    }
    await addDecided('pending', 10, 1)
    await addDecided('pending', 25, 2)
    await addDecided('rejected', 500, 3)
    await addDecided('awaiting_approval', null, 4)
    await add({ type: 'transfer', at: month.on(5), amount: '1' })
    const expected = {
      operationsRequiringApproval: 4,
      approvedOperations: 2,
      rejectedOperations: 1,
      cancelledOperations: 0,
      pendingOperations: 1,
      averageApprovalSeconds: 1050,
      medianApprovalSeconds: 1050,
      maximumApprovalSeconds: 1500,
    }
    expect((await world.report('address_activity', ofOwn())).approvals).toEqual(expected)
    const activity = await world.report('approval_activity', { ...interval(), breakdownBy: 'owner' })
    expect(activity.approvals).toEqual(expected)
    expect(activity.byPolicy).toMatchObject([{ policyCode: 'large', bypassedOperations: 0, ...expected }])
    expect(activity.byApprover).toMatchObject([
      {
        userId: world.admin.userId,
        user: { name: 'operator' },
        askedCount: 4,
        approvedCount: 2,
        rejectedCount: 1,
        withoutVoteCount: 1,
        medianVoteSeconds: 1500,
        maximumVoteSeconds: 30_000,
      },
    ])
  })

  it('counts faults of the books and of relations', async () => {
    const unbooked = await add({ at: month.on(1), amount: '1', isBooked: false })
    const half = await add({ type: 'transfer', at: month.on(2), amount: '2', status: 'pending' })
    await world.sql(`update operations set status = 'confirmed' where id = $1`, [half])
    const target = await add({ at: month.on(3), amount: '4' })
    const refund = await add({ type: 'transfer', at: month.on(4), amount: '5' })
    await world.sql(
      `insert into operation_relations (vault_id, id, source_operation_type, source_operation_id, source_address_id,
        target_operation_type, target_operation_id, relation_type, related_amount, token_id, created_by_id, created_at)
      values ($1, $2, 'transfer', $3, $4, 'deposit', $5, 'refund', 4000001, $6, $7, now())`,
      [world.vault.id, newId(), refund, world.own.id, target, world.vault.tokens.usdt.id, world.owner.userId],
    )
    await world.sql(
      `update ledger_accounts set balance = balance + 1 where address_id = $1 and token_id = $2 and purpose = 'reserved'`,
      [world.own.id, world.vault.tokens.usdt.id],
    )
    const { dataQuality } = await world.report('address_activity', ofOwn())
    expect(dataQuality).toMatchObject({
      missingLedgerEntries: 2,
      invalidOperationRelations: 1,
      ledgerReconciliationDifferences: 1,
    })
    expect(await exceptionsOf('missingLedgerEntries')).toEqual([unbooked, half].sort())
    expect(await exceptionsOf('invalidOperationRelations')).toEqual([refund])
    const body = await world.report('operations_exceptions', interval())
    expect(body.accountDifferences).toMatchObject([{ addressId: world.own.id, purpose: 'reserved' }])
    await world.sql(
      `update ledger_accounts set balance = balance - 1 where address_id = $1 and token_id = $2 and purpose = 'reserved'`,
      [world.own.id, world.vault.tokens.usdt.id],
    )
  })
})

describe('drill-downs list exactly the operations meant', () => {
  /** Returns the ids that the link of the only observation with this code lists. */
  async function drill(code: string, query: Record<string, string> = ofOwn()): Promise<string[]> {
    const { observations } = await world.report('address_activity', query)
    const found = observations.filter((observation: { code: string }) => observation.code === code)
    expect(found, JSON.stringify(observations)).toHaveLength(1)
    return world.history(found[0]!.drilldownFilters)
  }

  it('VOLUME_SPIKE', async () => {
    await add({ at: month.on(4, '23:59'), amount: '10' })
    const spike = [
      await add({ at: month.on(5, '00:00'), amount: '5000' }),
      await add({ type: 'transfer', at: month.on(5, '23:59'), amount: '1', status: 'failed' }),
    ]
    await add({ at: month.on(6, '00:00'), amount: '10' })
    await add({ at: month.on(5), amount: '1', address: world.second })
    expect(await drill('VOLUME_SPIKE')).toEqual(spike.sort())
  })

  it('LARGE_OPERATION', async () => {
    for (const day of [1, 2, 3]) await add({ at: month.on(day), amount: '1000' })
    const large = await add({ at: month.on(4), amount: '10000' })
    await add({ type: 'transfer', at: month.on(4), amount: '1000' })
    await add({ at: month.on(4), amount: '1', token: 'eth', rate: '1' })
    expect(await drill('LARGE_OPERATION')).toEqual([large])
  })

  it('NEW_COUNTERPARTY', async () => {
    const old = await world.addCounterparty(`Old ${year}`)
    const fresh = await world.addCounterparty(`Fresh ${year}`)
    await add({ at: `${year}-02-01T00:00:00Z`, amount: '1', counterparty: old })
    await add({ at: month.on(1), amount: '1', counterparty: old })
    const meant = [
      await add({ at: month.on(2), amount: '1', counterparty: fresh }),
      await add({ type: 'transfer', at: month.on(3), amount: '1', status: 'failed', counterparty: fresh }),
    ]
    await add({ at: `${year}-04-01T00:00:00Z`, amount: '1', counterparty: fresh })
    expect(await drill('NEW_COUNTERPARTY')).toEqual(meant.sort())
  })

  it('COUNTERPARTY_CONCENTRATION', async () => {
    const main = await world.addCounterparty(`Main ${year}`)
    const minor = await world.addCounterparty(`Minor ${year}`)
    const meant = await add({ at: month.on(1), amount: '900', counterparty: main })
    await add({ at: month.on(1), amount: '400', counterparty: minor })
    await add({ at: month.on(2), amount: '100' })
    expect(await drill('COUNTERPARTY_CONCENTRATION')).toEqual([meant])
  })

  it('HIGH_FAILURE_RATE', async () => {
    for (let i = 0; i < 9; i += 1) await add({ type: 'transfer', at: month.on(1 + i), amount: '1' })
    const failed = await add({ type: 'transfer', at: month.on(20), amount: '1', status: 'failed' })
    await add({ type: 'transfer', at: month.on(21), amount: '1', status: 'failed', address: world.second })
    expect(await drill('HIGH_FAILURE_RATE')).toEqual([failed])
  })

  it('DORMANT_ADDRESS_ACTIVE', async () => {
    await add({ at: `${year - 1}-11-20T00:00:00Z`, amount: '1', address: world.second })
    const meant = [
      await add({ at: month.on(5), amount: '1', address: world.second }),
      await add({ at: month.on(6), amount: '1', address: world.second }),
    ]
    expect(await drill('DORMANT_ADDRESS_ACTIVE', { addressId: world.second.id, ...interval() })).toEqual(meant.sort())
  })

  it('SLOW_APPROVALS', async () => {
    const policyId = `cslow${String(year).padStart(20, '0')}`
    const decide = async (id: string, votedAt: string | null) => {
      await world.sql(`update transfers set decision_policy_id = $2, decision_policy_code = 'slow' where id = $1`, [
        id,
        policyId,
      ])
      if (votedAt === null) return
      await world.sql(
        'insert into approval_requirements (vault_id, subject_id, policy_id, policy_code, policy_name, threshold, ' +
          `allow_initiator, created_at) values ($1, $2, $3, 'slow', 'Slow', 1, false, $4)`,
        [world.vault.id, id, policyId, votedAt],
      )
      await world.sql(
        'insert into approval_voters (vault_id, id, subject_id, user_id, decision, voted_at, created_at) values ($1, ' +
          `$2, $3, 'somebody', 'approve', $4, $4)`,
        [world.vault.id, newId(), id, votedAt],
      )
    }
    const slow = await add({ type: 'transfer', at: month.on(1), amount: '1' })
    await decide(slow, month.on(2))
    const decidedOnly = await add({ type: 'transfer', at: month.on(3), amount: '1' })
    await decide(decidedOnly, null)
    await add({ type: 'transfer', at: month.on(4), amount: '1' })
    expect(await drill('SLOW_APPROVALS')).toEqual([slow, decidedOnly].sort())
  })

  it('MISSING_RATES', async () => {
    await add({ at: month.on(1), amount: '1' })
    const meant = [
      await add({ at: month.on(2), amount: '1', rate: null }),
      await add({ at: month.on(3), amount: '1' }),
      await add({ at: month.on(4), amount: '1', rate: null }),
    ]
    await add({ at: month.on(3), amount: '1', token: 'eth' })
    await add({ at: month.on(5), amount: '1' })
    expect(await drill('MISSING_RATES')).toEqual(meant.sort())
    expect(await exceptionsOf('operationsWithoutUsdRate')).toEqual([meant[0], meant[2]].sort())
  })

  it('within the only status and network of the report', async () => {
    const draft = { type: 'transfer', amount: '1', rate: null } as const
    const pending = await add({ ...draft, at: month.on(2), status: 'pending' })
    await add({ ...draft, at: month.on(2), status: 'failed' })
    const confirmed = [
      await add({ ...draft, at: month.on(2) }),
      await add({ at: month.on(2), amount: '1', rate: null }),
    ]
    const of = (query: Record<string, string>) => drill('MISSING_RATES', { ...ofOwn(), ...query })
    expect(await of({ statuses: 'pending', networkIds: 'ethereum' })).toEqual([pending])
    const { observations } = await world.report('address_activity', {
      ...ofOwn(),
      statuses: 'pending',
      networkIds: 'ethereum',
    })
    expect(observations[0]!.drilldownFilters).toMatchObject({ statuses: 'pending', network: 'ethereum' })
    expect(await of({ statuses: 'confirmed' })).toEqual(confirmed.sort())
  })

  it('within a folder, for a viewer who sees more of it than their own part', async () => {
    const folder = await addFolder('Joint', world.owner.userId)
    await putInto(folder, world.own.id, month.on(1))
    await world.sql(
      'insert into address_group_grants (vault_id, id, group_id, subject_type, subject_id, can_view, can_transfer, ' +
        `grantor_id, created_at) values ($1, $2, $3, 'user', $4, true, false, $5, now())`,
      [world.vault.id, newId(), folder, world.other.userId, world.owner.userId],
    )
    const ordered = await add({ type: 'transfer', at: month.on(2), amount: '1', rate: null, by: world.other })
    const seen = await add({ at: month.on(2), amount: '1', rate: null })
    const of = async (includeShared: string) => {
      const query = { ...interval(), folderId: folder, includeShared }
      const { observations } = await world.report('address_activity', query, world.other)
      const missing = observations.find((observation: { code: string }) => observation.code === 'MISSING_RATES')
      return world.history(missing!.drilldownFilters, world.other)
    }
    expect(await of('false')).toEqual([ordered])
    expect(await of('true')).toEqual([ordered, seen].sort())
    await world.sql(`delete from address_groups where id = $1`, [folder])
  })
})

describe('the other reports', () => {
  it('counterparty_group_activity goes by membership now', async () => {
    const member = await world.addCounterparty(`Member ${year}`)
    const groupId = newId()
    await world.sql(
      `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at) values ($1, $2, $3, 'Suppliers', now(), now())`,
      [world.vault.id, groupId, `suppliers${year}`],
    )
    await world.sql(
      `insert into counterparty_group_memberships (vault_id, group_id, counterparty_id, created_at) values ($1, $2, $3, now())`,
      [world.vault.id, groupId, member.id],
    )
    await add({ at: month.on(1), amount: '1', counterparty: member })
    await add({ at: month.on(1), amount: '2' })
    const body = await world.report('counterparty_group_activity', { ...interval(), counterpartyGroupId: groupId })
    expect(body.report.type).toBe('counterparty_group_activity')
    expect(body.summary.grossTurnoverUsd).toBe('1.00')
    const unknown = await world.get('counterparty_group_activity', { ...interval(), counterpartyGroupId: 'none' })
    expect(unknown.status).toBe(404)
  })

  it('transaction_activity has all operations of the caller', async () => {
    await add({ at: month.on(1), amount: '1' })
    await add({ at: month.on(1), amount: '2', address: world.second })
    await add({ at: month.on(1), amount: '4', address: world.foreign })
    expect((await world.report('transaction_activity', interval())).summary.incomingUsd).toBe('3.00')
    expect((await world.report('transaction_activity', interval(), world.admin)).summary.incomingUsd).toBe('7.00')
  })

  it('asset_movement explains balances, and account_statement every posting', async () => {
    const addressId = world.second.id
    const tokenId = world.vault.tokens.usdt.id
    const read = async () => {
      const query = { ...interval(), ownAddressIds: addressId }
      const { balances } = await world.report('asset_movement', query)
      return balances.find((balance) => balance.tokenId === tokenId)!
    }
    await add({ type: 'transfer', at: `${year}-02-01T00:00:00Z`, amount: '1', address: world.second })
    const { openingBalance } = await read()
    await add({ at: month.on(1), amount: '100.5', address: world.second })
    await add({ type: 'transfer', at: month.on(2), amount: '0.25', address: world.second })
    await add({ type: 'transfer', at: month.on(3), amount: '7', status: 'failed', address: world.second })
    await add({ type: 'transfer', at: month.on(4), amount: '3', status: 'pending', address: world.second })
    await add({ at: `${year}-04-01T00:00:00Z`, amount: '9', address: world.second })
    const moved = await read()
    const raw = (decimal: string) => {
      const [whole, fraction = ''] = decimal.split('.')
      return BigInt(whole + fraction.padEnd(6, '0'))
    }
    expect(moved).toMatchObject({ openingBalance, incoming: '100.5', outgoing: '0.25', fees: '0', adjustments: '0' })
    expect(raw(moved.closingBalance) - raw(openingBalance)).toBe(100_250_000n)

    const lines = []
    let cursor: string | null = null
    let page: AccountStatementReport
    do {
      const query: Record<string, string> = {
        ...interval(),
        addressId,
        tokenId,
        limit: '3',
        ...(cursor === null ? {} : { cursor }),
      }
      page = await world.report('account_statement', query)
      lines.push(...page.lines)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(lines.map(({ kind, balanceChange }) => [kind, balanceChange])).toEqual([
      ['deposit', '100.5'],
      ['reserve', '0'],
      ['settle', '-0.25'],
      ['reserve', '0'],
      ['release', '0'],
      ['reserve', '0'],
    ])
    expect(page.opening.balance).toBe(openingBalance)
    expect(page.closing.balance).toBe(moved.closingBalance)
    let balance = raw(page.opening.balance)
    for (const line of lines) {
      balance += raw(line.balanceChange)
      expect(raw(line.balance)).toBe(balance)
      expect(raw(line.available) + raw(line.reserved)).toBe(balance)
    }
    expect(lines.at(-1)).toMatchObject({ reserved: '3', balance: page.closing.balance })
    expect(lines[0]!.balance).not.toBe(lines[2]!.balance)
  })

  it('account_statement shows the postings that match a condition, with the balances after all of them', async () => {
    const category = await addCategory(`rent${year}`)
    await addField(category, `flat${year}`, 'text')
    await add({ at: month.on(1), amount: '1' })
    const rent = await add({ at: month.on(2), amount: '2' })
    await assign(rent, category, { [`flat${year}`]: 'A' })
    const query = { ...ofOwn(), tokenId: world.vault.tokens.usdt.id }
    const all = await world.report('account_statement', query)
    const some = await world.report('account_statement', { ...query, categoryField: `flat${year}:A` })
    expect(all.lines).toHaveLength(2)
    expect(some.lines).toEqual([all.lines[1]])
    expect([some.opening, some.closing]).toEqual([all.opening, all.closing])
  })

  it('operations_exceptions pages through all operations', async () => {
    const expected = []
    for (let day = 1; day <= 5; day += 1) expected.unshift(await add({ at: month.on(day), amount: '1', rate: null }))
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: Record<string, string> = { ...interval(), limit: '2', ...(cursor === null ? {} : { cursor }) }
      const page: OperationsExceptionsReport = await world.report('operations_exceptions', query)
      for (const item of page.items) {
        expect(item.exceptions).toEqual([
          'operationsWithoutBusinessReference',
          'operationsWithoutPaymentPurpose',
          'operationsWithoutUsdRate',
          'uncategorizedOperations',
          'unmatchedOperations',
        ])
        seen.push(item.id)
      }
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(expected)
    const unknown = await world.get('operations_exceptions', { ...interval(), exceptions: 'totalOperations' })
    expect([unknown.status, unknown.body.details[0]!.field]).toEqual([400, 'exceptions'])
  })

  it('category_analytics reports the number of operations that its USD value leaves out', async () => {
    const category = await addCategory(`unvalued${year}`)
    await addField(category, 'centre', 'select')
    for (const [day, rate, centre] of [
      [1, '1', 'A'],
      [2, null, 'A'],
      [3, null, 'B'],
    ] as const) {
      await assign(await add({ at: month.on(day), amount: '5', rate }), category, { centre })
    }
    const fee = { amount: '0.001', rate: '2000' }
    const failed = await add({ type: 'transfer', at: month.on(4), amount: '5', rate: null, status: 'failed', fee })
    await assign(failed, category, { centre: 'B' })
    const { summary, fields } = await world.report('category_analytics', {
      ...interval(),
      categoryKey: `unvalued${year}`,
    })
    expect(summary).toMatchObject({ count: 4, usdValue: '5.00', operationsWithoutUsdRate: 2, feesUsd: '2.00' })
    expect(fields[0]!.values).toMatchObject([
      { value: 'A', usdValue: '5.00', operationsWithoutUsdRate: 1, feesByAsset: [], feesUsd: '0.00' },
      {
        value: 'B',
        usdValue: '0.00',
        operationsWithoutUsdRate: 1,
        feesByAsset: [{ assetCode: 'ETH', amount: '0.001' }],
        feesUsd: '2.00',
      },
    ])
  })

  it('category_analytics counts values and never adds two currencies', async () => {
    const category = await addCategory(`invoice${year}`, 'vault_members', 'owner_only')
    await addField(category, 'centre', 'select')
    await addField(category, 'currency', 'text')
    await addField(category, 'total', 'currency', { scale: 2, currencyFieldKey: 'currency' })
    await addField(category, 'hours', 'number', { unit: 'h' })
    await addField(category, 'secret', 'text', { sensitive: true })
    const values = [
      { centre: 'A', currency: 'EUR', total: '10.10', hours: '1.5', secret: 'x' },
      { centre: 'A', currency: 'EUR', total: '0.25', hours: '2' },
      { centre: 'B', currency: 'GBP', total: '-3.00', hours: '-0.125' },
      {},
    ] as Record<string, string>[]
    for (const [i, value] of values.entries()) {
      await assign(await add({ at: month.on(i + 1), amount: String(2 ** i) }), category, value)
    }
    const query = { ...interval(), categoryKey: `invoice${year}`, breakdownBy: 'owner' }
    const body = await world.report('category_analytics', query)
    expect(body.summary).toMatchObject({ count: 4, usdValue: '15.00' })
    const fieldOf = (key: string, of = body) => of.fields.find((field) => field.key === key)
    expect(fieldOf('centre')!.values.map((value) => [value.value, value.count, value.usdValue])).toEqual([
      [null, 1, '8.00'],
      ['B', 1, '4.00'],
      ['A', 2, '3.00'],
    ])
    expect(fieldOf('total')!.sums).toEqual([
      { unit: null, currency: 'EUR', count: 2, sum: '10.35', minimum: '0.25', maximum: '10.10' },
      { unit: null, currency: 'GBP', count: 1, sum: '-3.00', minimum: '-3.00', maximum: '-3.00' },
    ])
    expect(fieldOf('hours')!.sums).toEqual([
      { unit: 'h', currency: null, count: 3, sum: '3.375', minimum: '-0.125', maximum: '2' },
    ])
    expect(fieldOf('secret')).toMatchObject({
      redactedCount: 0,
      values: [
        { value: null, count: 3 },
        { value: 'x', count: 1 },
      ],
    })
    expect((await world.get('category_analytics', { ...interval(), categoryKey: 'none' })).status).toBe(404)

    // A member with whom the address is shared sees assignments, but not their sensitive values.
    await world.sql(
      'insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, ' +
        `grantor_id, created_at) values ($1, $2, $3, 'user', $4, true, false, $5, now())`,
      [world.vault.id, newId(), world.own.id, world.other.userId, world.owner.userId],
    )
    const shared = await world.report('category_analytics', { ...query, includeShared: 'true' }, world.other)
    expect(fieldOf('secret', shared)).toMatchObject({ redactedCount: 4, values: [] })
    const guess = await world.report(
      'transaction_activity',
      { ...interval(), includeShared: 'true', categoryField: 'secret:x' },
      world.other,
    )
    expect(guess.summary.operationsCount).toBe(0)
    expect(
      (await world.report('transaction_activity', { ...interval(), categoryField: 'secret:x' })).summary
        .operationsCount,
    ).toBe(1)
    await world.sql(`delete from address_grants`)
  })
})

const manyValues = (prefix: string) => Array.from({ length: 201 }, (_, i) => `${prefix}${i}`).join(',')

describe('one snapshot', () => {
  it('the figures of a report exclude operations that are committed between its statements', async () => {
    await add({ at: month.on(1), amount: '1' })
    const types = ['address_activity', 'operations_exceptions'] as const
    const queries = { address_activity: ofOwn(), operations_exceptions: interval() }
    for (const type of types) {
      const before = await world.report(type, queries[type])
      // The report reads relations after it has summed the operations, and missing entries after that.
      const release = await world.holdTable('operation_relations')
      const reading = world.report(type, queries[type])
      await release.untilAwaited()
      const cutoff = new Date()
      await add({ at: month.on(2), amount: '2', isBooked: false })
      await release()
      const { report, ...during } = await reading
      const { report: _, ...unchanged } = before
      expect(during).toEqual(unchanged)
      expect(new Date(report.dataCutoff) <= cutoff).toBe(true)
      expect((await world.report(type, queries[type])).dataQuality.missingLedgerEntries).toBe(
        before.dataQuality.missingLedgerEntries + 1,
      )
    }
  })
})

describe('faults', () => {
  it.each([
    ['neither an address nor a folder', {}, 'addressId'],
    ['both an address and a folder', { addressId: 'a', folderId: 'b' }, 'addressId'],
    ['an unknown zone', { addressId: 'a', timezone: 'Mars/Phobos' }, 'timezone'],
    ['an offset for a zone', { addressId: 'a', timezone: '+02:00' }, 'timezone'],
    ['an inverted interval', { addressId: 'a', from: '2026-03-02', to: '2026-03-01' }, 'from'],
    ['an empty interval', { addressId: 'a', from: '2026-03-01', to: '2026-03-01' }, 'from'],
    ['a day that does not exist', { addressId: 'a', from: '2026-02-30' }, 'from'],
    ['a currency without a rate', { addressId: 'a', baseCurrency: 'EUR' }, 'baseCurrency'],
    ['over ten years by day', { addressId: 'a', from: '2010-01-01', to: '2020-01-02' }, 'to'],
    ['over a hundred years by month', { addressId: 'a', groupBy: 'month', from: '1900-01-01', to: '2000-01-02' }, 'to'],
    ['an unknown status', { addressId: 'a', statuses: 'confirmed,done' }, 'statuses'],
    ['an unknown flow type', { addressId: 'a', flowTypes: 'inside' }, 'flowTypes'],
    ['an empty value', { addressId: 'a', tokenIds: 'a,,b' }, 'tokenIds'],
    ['a condition without a value', { addressId: 'a', categoryField: 'city' }, 'categoryField'],
    [
      'bounds of amounts the wrong way round',
      { addressId: 'a', minimumAmount: '2', maximumAmount: '1.5' },
      'minimumAmount',
    ],
    ['an amount with an exponent', { addressId: 'a', minimumAmount: '1e3' }, 'minimumAmount'],
    ['an unknown format', { addressId: 'a', format: 'docx' }, 'format'],
    ['a misspelt parameter', { addressId: 'a', tokenId: 'x' }, 'tokenId'],
    ['an unknown grouping', { addressId: 'a', groupBy: 'year' }, 'groupBy'],
    ['an unknown comparison', { addressId: 'a', comparison: 'constructor' }, 'comparison'],
    ['a member of every object as a zone', { addressId: 'a', timezone: 'constructor' }, 'timezone'],
    ['a member of every object as a status', { addressId: 'a', statuses: '__proto__' }, 'statuses'],
    ['more ids than one report takes', { addressId: 'a', tokenIds: manyValues('t') }, 'tokenIds'],
    ['more conditions than one report takes', { addressId: 'a', categoryField: manyValues('k:') }, 'categoryField'],
  ])('refuses %s', async (_, query, field) => {
    const { status, body } = await world.get('address_activity', query as Record<string, string>)
    expect([status, body.details?.[0]?.field]).toEqual([400, field])
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('refuses the name %s', async (name) => {
    const parameter = await world.owner.get(
      `/vaults/${world.vault.code}/reports/address_activity?addressId=${world.own.id}&${name}=1`,
    )
    expect([parameter.status, parameter.body.details[0]!.field]).toEqual([400, name])
    const condition = await world.get('address_activity', { ...ofOwn(), categoryField: `${name}:1` })
    expect([condition.status, condition.body.details[0]!.field]).toEqual([400, 'categoryField'])
    const figure = await world.get('operations_exceptions', { ...interval(), exceptions: name })
    expect([figure.status, figure.body.details[0]!.field]).toEqual([400, 'exceptions'])
    expect((await world.get('category_analytics', { ...interval(), categoryKey: name })).status).toBe(404)
  })

  it('accepts two hundred ids, and refuses a longer list of repeated parameters', async () => {
    const ids = Array.from({ length: 201 }, (_, i) => `t${i}`)
    const body = await world.report('address_activity', { ...ofOwn(), tokenIds: ids.slice(1).join(',') })
    expect(body.summary.operationsCount).toBe(0)
    const repeated = new URLSearchParams([
      ...Object.entries(ofOwn()),
      ...ids.map((id): [string, string] => ['tokenIds', id]),
    ])
    const refused = await world.owner.get(`/vaults/${world.vault.code}/reports/address_activity?${repeated}`)
    expect([refused.status, refused.body.details[0]!.field]).toEqual([400, 'tokenIds'])
  })

  it('names the parameter in every report', async () => {
    const scopes: Record<string, Record<string, string>> = {
      address_activity: { addressId: world.own.id },
      counterparty_activity: { counterpartyId: 'c' },
      counterparty_group_activity: { counterpartyGroupId: 'g' },
      transaction_activity: {},
      asset_movement: {},
      account_statement: { addressId: world.own.id, tokenId: world.vault.tokens.usdt.id },
      operations_exceptions: {},
      operations: {},
      fees: {},
      approval_activity: {},
      category_analytics: { categoryKey: 'k' },
    }
    const wrong: Record<string, string>[] = [
      { timezone: 'Mars/Phobos' },
      { from: '2026-03-02', to: '2026-03-01' },
      { baseCurrency: 'EUR' },
      { breakdownBy: 'address' },
    ]
    for (const [type, scope] of Object.entries(scopes)) {
      for (const parameters of wrong) {
        const { status, body } = await world.get(type, { ...scope, ...parameters })
        expect([type, status, body.details?.[0]?.field]).toEqual([type, 400, Object.keys(parameters)[0]])
      }
      for (const missing of Object.keys(scope)) {
        const { [missing]: _, ...rest } = scope
        const { status, body } = await world.get(type, rest)
        expect([type, status, body.details?.[0]?.field]).toEqual([type, 400, missing])
      }
    }
  })

  it('accepts ten years by day, and longer by month', async () => {
    const ten = await world.report('address_activity', {
      addressId: world.own.id,
      from: '1980-01-01',
      to: '1990-01-01',
    })
    expect(ten.timeline).toHaveLength(3653)
    const long = { addressId: world.own.id, from: '1900-01-01', to: '2000-01-01', groupBy: 'month' }
    expect((await world.report('address_activity', long)).timeline).toHaveLength(1200)
  })

  it('is 404 for hidden subjects', async () => {
    const folder = await addFolder('Private', world.owner.userId)
    const statusOf = async (type: string, query: Record<string, string>, by = world.other) =>
      (await world.get(type, { ...interval(), ...query }, by)).status
    expect(await statusOf('address_activity', { addressId: world.own.id })).toBe(404)
    expect(await statusOf('address_activity', { addressId: 'none' })).toBe(404)
    expect(await statusOf('address_activity', { folderId: folder })).toBe(404)
    expect(await statusOf('address_activity', { folderId: folder }, world.admin)).toBe(200)
    expect(await statusOf('counterparty_activity', { counterpartyId: 'none' })).toBe(404)
    const tokenId = world.vault.tokens.usdt.id
    expect(await statusOf('account_statement', { addressId: world.own.id, tokenId })).toBe(404)
    expect(await statusOf('account_statement', { addressId: world.own.id, tokenId: 'none' }, world.owner)).toBe(404)
  })
})

describe('the visibility of reports', () => {
  it('actions of other members change no figure of a member', async () => {
    const partner = await world.addCounterparty(`Partner ${year}`)
    await add({ at: month.on(1), amount: '10', counterparty: partner })
    await add({ type: 'transfer', at: month.on(2), amount: '3' })
    const types = ['transaction_activity', 'asset_movement', 'approval_activity', 'operations_exceptions'] as const
    const read = async () => {
      const bodies = []
      for (const type of types) {
        const { report: _, ...body } = await world.report(type, { ...interval(), includeShared: 'true' })
        bodies.push(body)
      }
      const { report: _, ...body } = await world.report('address_activity', {
        ...ofOwn(),
        comparison: 'previous_period',
      })
      return [...bodies, body]
    }
    const before = await read()
    await add({ at: month.on(1), amount: '99999', address: world.foreign, counterparty: partner })
    await add({ at: `${year}-02-10T00:00:00Z`, amount: '77', address: world.foreign, counterparty: partner })
    await add({ at: month.on(3), amount: '5', address: world.foreign, rate: null, isBooked: false, blockchainAt: null })
    await add({
      type: 'transfer',
      at: month.on(2),
      amount: '3',
      address: world.foreign,
      by: world.other,
      status: 'failed',
    })
    expect(await read()).toEqual(before)
  })

  it('a member reads their own orders from an address of another user', async () => {
    await add({ type: 'transfer', at: month.on(1), amount: '3', address: world.foreign, by: world.owner })
    await add({ at: month.on(1), amount: '5', address: world.foreign })
    expect((await world.report('transaction_activity', interval())).summary).toMatchObject({
      operationsCount: 1,
      outgoingUsd: '3.00',
    })
  })

  it('reports split by the owner of the address where the parameter applies, with shared addresses', async () => {
    await world.sql(
      'insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, ' +
        `grantor_id, created_at) values ($1, $2, $3, 'user', $4, true, false, $5, now())`,
      [world.vault.id, newId(), world.foreign.id, world.owner.userId, world.other.userId],
    )
    await add({ at: month.on(1), amount: '1' })
    await add({ at: month.on(1), amount: '2', address: world.foreign })
    const query = { ...interval(), breakdownBy: 'owner' }
    const ownReport = await world.report('transaction_activity', query)
    expect(ownReport.byAddressOwner).toMatchObject([
      { ownerId: world.owner.userId, isMe: true, grossTurnoverUsd: '1.00' },
    ])
    const all = await world.report('transaction_activity', { ...query, includeShared: 'true' })
    expect(all.byAddressOwner).toMatchObject([
      { ownerId: world.other.userId, isMe: false, owner: { name: 'other.member' }, grossTurnoverUsd: '2.00' },
      { ownerId: world.owner.userId, isMe: true, grossTurnoverUsd: '1.00' },
    ])
    const partner = await world.addCounterparty(`Owned ${year}`)
    const groupId = newId()
    await world.sql(
      `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at) values ($1, $2, $3, 'Owned', now(), now())`,
      [world.vault.id, groupId, `owned${year}`],
    )
    const category = `owned${year}`
    await addCategory(category)
    const ofAddress = { addressId: world.own.id, ...query }
    for (const [type, scope] of [
      ['address_activity', ofAddress],
      ['counterparty_activity', { ...query, counterpartyId: partner.id }],
      ['counterparty_group_activity', { ...query, counterpartyGroupId: groupId }],
      ['asset_movement', query],
    ] as const) {
      expect(await world.report(type, scope), type).toHaveProperty('byAddressOwner')
    }
    for (const [type, scope] of [
      ['account_statement', { ...ofAddress, addressId: world.second.id, tokenId: world.vault.tokens.usdt.id }],
      ['operations_exceptions', query],
      ['operations', query],
      ['fees', query],
      ['approval_activity', query],
      ['category_analytics', { ...query, categoryKey: category }],
    ] as const) {
      expect(await world.report(type, scope), type).not.toHaveProperty('byAddressOwner')
    }
    // The caller sees the address, but its operations are not their own.
    const about = { ...interval(), addressId: world.foreign.id }
    expect((await world.report('address_activity', about)).summary.operationsCount).toBe(0)
    expect((await world.report('address_activity', { ...about, includeShared: 'true' })).summary.operationsCount).toBe(
      1,
    )
    await world.sql(`delete from address_grants`)
  })

  it('an administrator may filter by user, other members may not name another', async () => {
    await add({ at: month.on(1), amount: '1' })
    await add({ at: month.on(1), amount: '2', address: world.foreign })
    const query = { ...interval(), userId: world.other.userId }
    expect((await world.report('transaction_activity', query, world.admin)).summary.incomingUsd).toBe('2.00')
    for (const type of [
      'transaction_activity',
      'asset_movement',
      'fees',
      'approval_activity',
      'operations_exceptions',
      'operations',
    ]) {
      expect((await world.get(type, query)).status, type).toBe(403)
    }
    // Permission is checked before the meaning of the parameters.
    const wrong = { ...query, exceptions: 'no_such_kind' }
    expect((await world.get('operations_exceptions', wrong)).status).toBe(403)
    expect(
      (await world.report('transaction_activity', { ...interval(), userId: world.owner.userId })).summary.incomingUsd,
    ).toBe('1.00')
  })

  it('does not reveal a category to viewers who may not see it', async () => {
    const hidden = await addCategory(`hidden${year}`, 'restricted')
    const id = await add({ at: month.on(1), amount: '1' })
    await assign(id, hidden)
    const of = async (by = world.owner) =>
      (await world.report('transaction_activity', interval(), by)).byCategory.map(({ category }) => category)
    expect(await of()).toEqual([null])
    expect(await of(world.admin)).toEqual([`hidden${year}`])
    const filtered = await world.report('transaction_activity', { ...interval(), categoryKeys: `hidden${year}` })
    expect(filtered.summary.operationsCount).toBe(0)
  })
})

describe('T69 many reports of one member', () => {
  it('take turns, and delay neither balances nor a report of another member', async () => {
    await add({ type: 'deposit', at: month.on(2), amount: '1' })
    const base = `/vaults/${world.vault.code}` as const
    const path = `${base}/reports/transaction_activity?from=${month.from}&to=${month.to}` as const
    const { db } = world.test.deps
    const release = await world.holdTable('operations')
    const reports = Array.from({ length: 15 }, () => world.owner.get(path))
    await release.untilAwaited()
    expect((await world.other.get(`${base}/balances`)).status).toBe(200)
    expect(await countSessionsWaiting(db)).toBe(1)
    const beside = world.other.get(path)
    // A refused request does not wait, not even behind the caller's own requests.
    const refused = await world.owner.get(`${path}&userId=${world.other.userId}`)
    expect(refused.status).toBe(403)
    await untilSessionsWait(db, 2)
    await release()
    expect((await beside).status).toBe(200)
    expect(new Set((await Promise.all(reports)).map(({ status }) => status))).toEqual(new Set([200]))
  })
})
