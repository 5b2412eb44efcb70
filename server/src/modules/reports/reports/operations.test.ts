import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import type { OperationsReport } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { readCsv, readPdf, readWorkbook } from '../../../testing/read-files.ts'
import { type Counterparty, createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

let world: ReportWorld
let supplier: Counterparty
let first: string
let second: string
let foreign: string
let pay: string
const interval = { from: '2026-01-01', to: '2026-02-01' }
const lateAddress = '0x00000000000000000000000000000000000000aB'

beforeAll(async () => {
  world = await createReportWorld()
  supplier = await world.addCounterparty('Spółka Żółw')
  first = await world.add({
    at: '2026-01-02T12:00:00.000Z',
    amount: '100.000001',
    counterparty: supplier,
    rate: '0.999',
    tags: ['urgent', 'q1'],
    paymentPurpose: 'Invoice 4711',
    note: '=1+1',
  })
  second = await world.add({
    type: 'transfer',
    at: '2026-01-03T12:00:00.000Z',
    amount: '7',
    token: 'eth',
    otherSide: lateAddress,
    rate: null,
  })
  foreign = await world.add({ at: '2026-01-04T12:00:00.000Z', amount: '5', address: world.foreign, by: world.other })
  await world.add({ at: '2026-03-01T12:00:00.000Z', amount: '5' })
  await world.sql(`update transfers set fee = 21000000000000, decision_policy_code = 'large' where id = $1`, [second])
  pay = await addCategory('pay', 'Pay')
  const secret = await addCategory('secret', 'Secret', 'restricted')
  await assign(first, pay, { hours: '3.50', city: 'Łódź', salary: '12.00' })
  await assign(first, secret, { hours: '9.00' })
  await assign(foreign, pay, { hours: '1.00' })
})
afterAll(() => world.close())

/** Creates a category with three fields, of which `salary` is for editors. */
async function addCategory(key: string, name: string, scope = 'vault_members'): Promise<string> {
  const id = newId()
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, $3, $4, 'both', $5, $5, 'restricted', 'none', 0, false, $6, $6, now(), now())`,
    [world.vault.id, id, key, name, scope, world.admin.userId],
  )
  const fields = [
    ['hours', 'number', false],
    ['city', 'text', false],
    ['salary', 'number', true],
  ]
  for (const [order, [field, type, sensitive]] of fields.entries()) {
    await world.sql(
      `insert into category_fields (vault_id, id, category_id, key, label, type, required, sensitive, order_index, created_at, updated_at)
      values ($1, $2, $3, $4, $4, $5, false, $6, $7, now(), now())`,
      [world.vault.id, newId(), id, field, type, sensitive, order],
    )
  }
  return id
}

async function assign(operationId: string, categoryId: string, values: object): Promise<void> {
  await world.sql(
    `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
      assigned_by_id, created_at, updated_at)
    select vault_id, $3, id, type, created_at, $4, $5, $6, now(), now() from operations where vault_id = $1 and id = $2`,
    [world.vault.id, operationId, newId(), categoryId, JSON.stringify(values), world.admin.userId],
  )
}

async function fileOf(format: string, by: Person = world.owner, query: object = {}): Promise<Buffer> {
  const answer = await world.test.app.inject({
    url: `/api/v1/vaults/main-vault/reports/operations?${new URLSearchParams({ ...interval, format, ...query })}`,
    headers: { authorization: `Bearer ${by.token}` },
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.rawPayload
}

/** Returns the rows of a CSV file by the names of their columns. */
async function rowsOf(by?: Person): Promise<Record<string, string>[]> {
  const [keys, ...lines] = readCsv((await fileOf('csv', by)).toString('utf8'))
  return lines.map((line) => Object.fromEntries(keys!.map((key, i) => [key, line[i]!])))
}

describe('the report operations', () => {
  it('has a row for each operation of the interval, oldest first, with the values of its categories', async () => {
    const { items, categoryColumns, nextCursor } = await world.report('operations', interval)
    expect(nextCursor).toBeNull()
    expect(items).toHaveLength(2)
    expect(items[0]).toMatchObject({
      id: first,
      createdAt: '2026-01-02T12:00:00.000Z',
      operationType: 'deposit',
      direction: 'in',
      status: 'confirmed',
      flowType: 'external',
      network: 'ethereum',
      asset: 'USDT',
      amount: '100.000001',
      usdRate: '0.999',
      usdValue: '99.90',
      fee: null,
      feeAsset: null,
      feeUsdValue: null,
      address: world.own.address,
      addressLabel: 'Treasury',
      otherAddress: supplier.address,
      counterparty: { id: supplier.id, name: 'Spółka Żółw' },
      initiatorId: null,
      paymentPurpose: 'Invoice 4711',
      note: '=1+1',
      tags: ['urgent', 'q1'],
      categories: ['pay'],
      categoryValues: { 'pay.hours': '3.50', 'pay.city': 'Łódź', 'pay.salary': null },
    })
    expect(items[1]).toMatchObject({
      id: second,
      direction: 'out',
      asset: 'ETH',
      amount: '7',
      usdRate: null,
      usdValue: null,
      fee: '0.000021',
      feeAsset: 'ETH',
      feeUsdValue: null,
      otherAddress: lateAddress,
      counterparty: null,
      initiatorId: world.owner.userId,
      decisionPolicyCode: 'large',
      categories: [],
      categoryValues: {},
    })
    expect(categoryColumns.map(({ key, type }: { key: string; type: string }) => [key, type])).toEqual([
      ['pay.hours', 'number'],
      ['pay.city', 'text'],
      ['pay.salary', 'number'],
    ])
  })

  it('pages through all of its rows once', async () => {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const page: OperationsReport = await world.report(
        'operations',
        { ...interval, limit: '1', ...(cursor === null ? {} : { cursor }) },
        world.admin,
      )
      expect(page.items).toHaveLength(1)
      // The columns are those of the report, not of the page.
      expect(page.categoryColumns).toHaveLength(6)
      ids.push(page.items[0]!.id)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(ids).toEqual([first, second, foreign])
  })

  it('T39 shows the operations of the history, and only category values that the viewer may read', async () => {
    for (const by of [world.owner, world.other, world.admin]) {
      const { items } = await world.report('operations', interval, by)
      const ids = items.map(({ id }) => id)
      expect(ids.toSorted()).toEqual(await world.history({ from: '2026-01-01', to: '2026-01-31' }, by))
    }
    const ownOperation = (await world.report('operations', interval, world.admin)).items[0]!
    expect(ownOperation.categories).toEqual(['pay', 'secret'])
    expect(ownOperation.categoryValues).toEqual({
      'pay.hours': '3.50',
      'pay.city': 'Łódź',
      'pay.salary': '12.00',
      'secret.hours': '9.00',
    })
    // A member does not learn that a hidden category exists.
    expect(Object.keys((await rowsOf())[0]!).filter((key) => key.startsWith('secret'))).toEqual([])
    expect((await fileOf('xlsx')).includes('Secret')).toBe(false)
    const { categoryColumns } = await world.report('operations', { ...interval, statuses: 'failed' })
    expect(categoryColumns).toEqual([])
  })

  it('accepts the filters of the other reports', async () => {
    const idsOf = async (query: Record<string, string>, by?: Person) =>
      (await world.report('operations', { ...interval, ...query }, by)).items.map(({ id }) => id)
    expect(await idsOf({ assets: 'ETH' })).toEqual([second])
    expect(await idsOf({ categoryField: 'hours:3.50' })).toEqual([first])
    expect(await idsOf({ counterpartyIds: supplier.id })).toEqual([first])
    expect(await idsOf({ userId: world.other.userId }, world.admin)).toEqual([foreign])
    expect(await idsOf({ minimumAmount: '50' })).toEqual([first])
    expect((await world.get('operations', { userId: world.other.userId })).status).toBe(403)
  })

  it('names the counterparty of the present address book, or the recorded one', async () => {
    const late = await world.addCounterparty('Late Partner', '2026-06-01T00:00:00.000Z')
    await world.sql('update counterparty_addresses set address = $2, address_key = lower($2) where id = $1', [
      late.addressId,
      lateAddress,
    ])
    await world.sql(`update counterparties set name = 'Renamed' where id = $1`, [supplier.id])
    const namesOf = async (query: object) =>
      (await world.report('operations', { ...interval, ...query })).items.map(
        ({ counterparty }) => counterparty?.name ?? null,
      )
    expect(await namesOf({})).toEqual(['Renamed', 'Late Partner'])
    expect(await namesOf({ counterpartyClassification: 'historical' })).toEqual(['Spółka Żółw', null])
    await world.sql(`update counterparties set name = 'Spółka Żółw' where id = $1`, [supplier.id])
  })

  it('is one table in CSV, with a column for each field, and no text that a spreadsheet would run', async () => {
    const [deposit, transfer] = await rowsOf()
    expect(deposit).toMatchObject({
      id: first,
      amount: '100.000001',
      note: "'=1+1",
      tags: 'urgent; q1',
      categories: 'pay',
      'pay.hours': '3.50',
      'pay.city': 'Łódź',
      'pay.salary': '',
    })
    expect(transfer).toMatchObject({ id: second, categories: '', 'pay.hours': '' })
    expect(Object.keys(deposit!)).not.toContain('categoryValues')
  })

  it('has numbers in XLSX, and its categories by name in PDF', async () => {
    const [, sheet] = readWorkbook(await fileOf('xlsx'))
    const places = [...sheet!.cells].filter(([, { value }]) => value.startsWith('Pay: ')).map(([place]) => place)
    // Each of the two numbers has its exact digits in the column beside it.
    expect(places).toHaveLength(5)
    const [hours, digits] = places.map((place) => sheet!.cells.get(place.replace('1', '2')))
    expect(hours).toMatchObject({ value: '3.5', isText: false })
    expect(digits).toMatchObject({ value: '3.50', isText: true })
    const { text } = readPdf(await fileOf('pdf', world.owner, { timezone: 'Europe/Warsaw' }))
    for (const shown of ['Pay: hours: 3.50', 'Pay: city: Łódź', '2026-01-02 13:00:00', 'Spółka Żółw', 'Invoice 4711']) {
      expect(text.replaceAll(' ', ''), shown).toContain(shown.replaceAll(' ', ''))
    }
    expect(text).not.toContain('12.00')
  })

  it('is exported as one CSV file', async () => {
    const path = '/vaults/main-vault/reports'
    const { body } = await world.owner.post(`${path}/operations/exports`, { format: 'csv', ...interval })
    const { runDueExports } = await import('../exports/due-exports.ts')
    await runDueExports(world.test.deps, new AbortController().signal)
    const answer = await world.test.app.inject({
      url: `/api/v1${path}/exports/${body.id}/download`,
      headers: { authorization: `Bearer ${world.owner.token}` },
    })
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="operations-${body.id}.csv"`,
    })
    expect(readCsv(answer.body)).toHaveLength(3)
  })
})
