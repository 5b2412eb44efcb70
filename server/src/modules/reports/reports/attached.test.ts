import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'

/** Reports of what people attach to operations: relations and categories. */

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
})
afterAll(() => world.close())

/** Every test has its own month, which contains only the operations of the test. */
let year = 2000
beforeEach(() => {
  year += 1
})
const on = (day: number) => `${year}-03-0${day}T12:00:00.000Z`
const interval = () => ({ from: `${year}-03-01`, to: `${year}-04-01` })

describe('contradictory relations', () => {
  async function refunds(source: string, target: string, amount: string | null): Promise<void> {
    await world.sql(
      `insert into operation_relations (vault_id, id, source_operation_type, source_operation_id, source_address_id,
        target_operation_type, target_operation_id, relation_type, related_amount, token_id, created_by_id, created_at)
      values ($1, $2, 'transfer', $3, $4, 'deposit', $5, 'refund', $6, $7, $8, now())`,
      [world.vault.id, newId(), source, world.own.id, target, amount, world.vault.tokens.usdt.id, world.owner.userId],
    )
  }

  async function listed(): Promise<string[]> {
    const query = { ...interval(), exceptions: 'invalidOperationRelations' }
    const { items, dataQuality } = await world.report('operations_exceptions', query)
    expect(dataQuality.invalidOperationRelations).toBe(items.length)
    return items.map(({ id }) => id).sort()
  }

  it('leave out refunds without effect, as the check of new relations does', async () => {
    const target = await world.add({ at: on(3), amount: '4' })
    const refund = await world.add({ type: 'transfer', at: on(4), amount: '4' })
    await refunds(refund, target, '4000000')
    expect(await listed()).toEqual([])
    const failed = await world.add({ type: 'transfer', at: on(4), amount: '3', status: 'failed' })
    await refunds(failed, target, '3000000')
    expect(await listed()).toEqual([failed])
  })

  it('count a refund that names no amount with the amount of its source', async () => {
    const target = await world.add({ at: on(3), amount: '4' })
    const sources = [
      await world.add({ type: 'transfer', at: on(4), amount: '3' }),
      await world.add({ type: 'transfer', at: on(5), amount: '1.000001' }),
    ]
    for (const source of sources) await refunds(source, target, null)
    expect(await listed()).toEqual(sources.sort())
  })
})

/** Adds a category that owners edit, and its fields: an amount with its currency, hours, and a sensitive number. */
async function addCategory(key: string): Promise<string> {
  const id = newId()
  await world.sql(
    `insert into operation_categories (vault_id, id, key, name, applies_to, view_scope, assign_scope, edit_scope, approval_scope,
      approval_threshold, allow_initiator_approval, created_by_id, updated_by_id, created_at, updated_at)
    values ($1, $2, $3, $3, 'both', 'vault_members', 'vault_members', 'owner_only', 'none', 0, false, $4, $4, now(), now())`,
    [world.vault.id, id, key, world.admin.userId],
  )
  await world.sql(
    `insert into category_fields (vault_id, id, category_id, key, label, type, required, sensitive, order_index, created_at,
      updated_at, scale, currency_field_key, unit)
    select $1, $2 || key, $3, key, key, type, false, sensitive, 0, now(), now(), scale, currency, unit
    from (values ('centre', 'text', false, null, null, null), ('currency', 'text', true, null, null, null),
      ('total', 'currency', false, 2, 'currency', null), ('hours', 'number', false, null, null, 'h'),
      ('wage', 'number', true, null, null, null)) as f (key, type, sensitive, scale, currency, unit)`,
    [world.vault.id, newId(), id],
  )
  return id
}

async function assign(operationId: string, categoryId: string, values: Record<string, string>): Promise<void> {
  await world.sql(
    `insert into category_assignments (vault_id, id, operation_id, operation_type, operation_created_at, category_id, values,
      assigned_by_id, created_at, updated_at)
    select vault_id, $3, id, type, created_at, $4, $5, $6, now(), now() from operations where vault_id = $1 and id = $2`,
    [world.vault.id, operationId, newId(), categoryId, JSON.stringify(values), world.owner.userId],
  )
}

/** Shares an address of the owner with the other member until the returned function is called. */
async function share(addressId: string): Promise<() => Promise<unknown>> {
  await world.sql(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id,
      created_at) values ($1, $2, $3, 'user', $4, true, false, $5, now())`,
    [world.vault.id, newId(), addressId, world.other.userId, world.owner.userId],
  )
  return () => world.sql('delete from address_grants')
}

describe('category_analytics of numbers and amounts', () => {
  const sumOf = (sum: string, count: number) => [expect.objectContaining({ sum, count })]
  const read = async (query: Record<string, string> = {}, by = world.owner) => {
    const { fields } = await world.report(
      'category_analytics',
      { ...interval(), categoryKey: `work${year}`, ...query },
      by,
    )
    return Object.fromEntries(fields.map((field) => [field.key, field]))
  }

  it('sums the operations that count, or those of the statuses of the report', async () => {
    const category = await addCategory(`work${year}`)
    const paid = await world.add({ type: 'transfer', at: on(1), amount: '1' })
    const failed = await world.add({ type: 'transfer', at: on(2), amount: '1', status: 'failed' })
    await assign(paid, category, { hours: '2', currency: 'EUR', total: '10.00' })
    await assign(failed, category, { hours: '40', currency: 'EUR', total: '400.00' })
    const usual = await read()
    expect([usual.hours!.sums, usual.total!.sums]).toEqual([sumOf('2', 1), sumOf('10.00', 1)])
    const both = await read({ statuses: 'confirmed,failed' })
    expect([both.hours!.sums, both.total!.sums]).toEqual([sumOf('42', 2), sumOf('410.00', 2)])
  })

  it('counts the operations whose number or currency the caller may not see', async () => {
    const category = await addCategory(`work${year}`)
    const operation = await world.add({ at: on(1), amount: '1' })
    await assign(operation, category, { centre: 'A', hours: '2', wage: '30', currency: 'EUR', total: '10.00' })
    const countsOf = (fields: Awaited<ReturnType<typeof read>>) =>
      ['centre', 'hours', 'wage', 'currency', 'total'].map((key) => fields[key]!.redactedCount)
    const ofOwner = await read()
    expect([countsOf(ofOwner), ofOwner.wage!.sums, ofOwner.total!.sums]).toEqual([
      [0, 0, 0, 0, 0],
      sumOf('30', 1),
      sumOf('10.00', 1),
    ])
    const unshare = await share(world.own.id)
    const others = await read({ includeShared: 'true' }, world.other)
    expect(countsOf(others)).toEqual([0, 0, 1, 1, 1])
    expect([others.hours!.sums, others.wage!.sums, others.total!.sums]).toEqual([sumOf('2', 1), [], []])
    expect(others.wage!).toMatchObject({ values: [], otherCount: 0 })
    await unshare()
  })
})

describe('account_statement by category', () => {
  it('has the lines of a shared address, whether or not the request includes shared addresses', async () => {
    const category = await addCategory(`rent${year}`)
    const rent = await world.add({ at: on(1), amount: '1' })
    await world.add({ at: on(2), amount: '2' })
    await assign(rent, category, {})
    const unshare = await share(world.own.id)
    const query = {
      ...interval(),
      addressId: world.own.id,
      tokenId: world.vault.tokens.usdt.id,
      categoryKeys: `rent${year}`,
    }
    const shared: Record<string, string>[] = [{}, { includeShared: 'true' }]
    for (const more of shared) {
      const { lines } = await world.report('account_statement', { ...query, ...more }, world.other)
      expect(lines.map(({ operationId }) => operationId)).toEqual([rent])
    }
    await unshare()
  })

  it('has the fee that the address paid for the operation of another address and token', async () => {
    const category = await addCategory(`gas${year}`)
    const fee = { amount: '0.5', rate: '2000', paidBy: world.second }
    const paid = await world.add({ type: 'transfer', at: on(1), amount: '1', fee })
    const hidden = await world.add({
      type: 'transfer',
      at: on(2),
      amount: '1',
      address: world.foreign,
      by: world.other,
      fee,
    })
    for (const operation of [paid, hidden]) await assign(operation, category, { centre: 'A' })
    const query = { ...interval(), addressId: world.second.id, tokenId: world.vault.tokens.eth.id }
    const linesOf = async (filter: Record<string, string>) => {
      const { lines } = await world.report('account_statement', { ...query, ...filter })
      return lines.filter(({ kind }) => kind === 'fee').map(({ operationId }) => operationId)
    }
    expect(await linesOf({})).toEqual([paid, hidden])
    // The categories of an operation are visible to those who see the operation.
    expect(await linesOf({ categoryKeys: `gas${year}` })).toEqual([paid])
    expect(await linesOf({ categoryField: 'centre:A' })).toEqual([paid])
    expect(await linesOf({ categoryField: 'centre:B' })).toEqual([])
  })
})
