import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { reportTypes } from './catalogue.ts'

/** Reports whose parameters are a body. */

let world: ReportWorld
let scopes: Record<string, Record<string, string>>
const interval = { from: '2001-03-01', to: '2001-04-01' }
const pathOf = (type: string) => `/vaults/${world.vault.code}/reports/${type}` as const

beforeAll(async () => {
  world = await createReportWorld()
  const made = async (path: string, body: object) => {
    const answer = await world.admin.post(`/vaults/${world.vault.code}/${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body.id as string
  }
  const anybody = { viewScope: 'vault_members', assignScope: 'vault_members', editScope: 'vault_members' }
  await made('operation-categories', { key: 'travel', name: 'Travel', appliesTo: 'both', ...anybody })
  const partner = await world.addCounterparty('Partner')
  await world.sql(
    `insert into counterparty_groups (vault_id, id, code, name, created_at, updated_at)
      values ($1, 'cgroup0000000000000000000', 'suppliers', 'Suppliers', now(), now())`,
    [world.vault.id],
  )
  await world.add({ at: '2001-03-01T12:00:00Z', amount: '1', counterparty: partner })
  await world.add({ type: 'transfer', at: '2001-03-02T12:00:00Z', amount: '2', rate: null })
  scopes = {
    address_activity: { addressId: world.own.id, comparison: 'previous_period' },
    counterparty_activity: { counterpartyId: partner.id },
    counterparty_group_activity: { counterpartyGroupId: 'cgroup0000000000000000000' },
    account_statement: { addressId: world.own.id, tokenId: world.vault.tokens.usdt.id },
    category_analytics: { categoryKey: 'travel' },
  }
})
afterAll(() => world.close())

describe.each(reportTypes)('POST of %s', (type) => {
  const validParameters = () => ({ ...interval, ...scopes[type] })
  const post = (body: object, headers?: Record<string, string>) => world.owner.post(pathOf(type), body, headers)

  it('answers like its GET', async () => {
    const withoutTimes = ({ report, ...rest }: { report: object }) => {
      const { id: _, dataCutoff: _1, generatedAt: _2, ...header } = report as Record<string, unknown>
      return { ...rest, report: header }
    }
    const read = await world.report(type, { ...validParameters(), includeShared: 'true' })
    const posted = await post({ ...validParameters(), includeShared: true })
    expect([posted.status, withoutTimes(posted.body)]).toEqual([200, withoutTimes(read)])
  })

  it('returns files', async () => {
    for (const format of ['csv', 'xlsx', 'pdf']) {
      const { status, headers } = await post({ ...validParameters(), format })
      const isArchive = !['account_statement', 'operations', 'operations_exceptions'].includes(type)
      const extension = format === 'csv' && isArchive ? 'zip' : format
      expect([status, headers['content-disposition']]).toEqual([200, expect.stringContaining(`.${extension}"`)])
    }
  })

  it('repeats its answer for an Idempotency-Key, and refuses another body', async () => {
    const key = { 'idempotency-key': `report-${type}` }
    const first = await post(validParameters(), key)
    expect(first.status).toBe(200)
    const again = await post(validParameters(), key)
    expect([again.headers['idempotency-replayed'], again.body.report.id]).toEqual(['true', first.body.report.id])
    const other = await post({ ...validParameters(), to: '2001-03-20' }, key)
    expect([other.status, other.body.reason]).toEqual([409, 'idempotency_key_reused'])
  })

  it('refuses everything that its GET refuses, and values of another type', async () => {
    const refusals: [object, string][] = [
      [{ nonsense: '1' }, 'nonsense'],
      [{ includeShared: 'true' }, 'includeShared'],
      [{ timezone: 'Mars/Phobos' }, 'timezone'],
      [{ from: '2002-01-01' }, 'from'],
    ]
    for (const [wrong, field] of refusals) {
      const { status, body } = await post({ ...validParameters(), ...wrong })
      expect([status, body.details[0]!.field]).toEqual([400, field])
    }
    expect((await world.other.post(pathOf(type), { ...validParameters(), userId: world.owner.userId })).status).toBe(
      403,
    )
    expect((await world.test.anonymous.post(pathOf(type), validParameters())).status).toBe(401)
  })
})

describe('a body', () => {
  it('has lists as arrays, and pages', async () => {
    const lists = { tokenIds: [world.vault.tokens.usdt.id], statuses: ['confirmed', 'failed'], limit: 1 }
    const ask = (body: object) => world.owner.post(pathOf('operations_exceptions'), { ...interval, ...body })
    const first = await ask(lists)
    expect(first.body.items).toHaveLength(1)
    const second = await ask({ ...lists, cursor: first.body.nextCursor })
    expect(second.body.items).toHaveLength(1)
    expect(second.body.items[0]!.id).not.toBe(first.body.items[0]!.id)
    const tooMany = await ask({ tokenIds: Array.from({ length: 201 }, (_, i) => `t${i}`) })
    expect([tooMany.status, tooMany.body.details[0]!.field]).toEqual([400, 'tokenIds'])
    expect((await ask({ tokenIds: 'one' })).status).toBe(400)
  })
})
