import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Member } from '../../../access/caller.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { buildExceptions, listExceptions, readExceptionsRequest } from '../reports/operations-exceptions/build.ts'
import { inSnapshot, nameFew } from '../requests/reading.ts'
import { buildActivity } from './activity-report.ts'
import { readActivityRequest } from './activity-request.ts'
import { countMissingEntries, listOrderStatistics } from './statistics.ts'
import { sumOperations } from './sum-operations.ts'

/** Some statements have two forms, depending on the amount of data. Both must return the same. */

let world: ReportWorld
beforeAll(async () => {
  world = await createReportWorld()
  const at = '2026-03-01T00:00:00.000Z'
  for (const amount of ['4', '1', '3', '2']) {
    await world.add({ type: 'deposit', status: 'confirmed', token: 'usdt', amount, at, address: world.own })
  }
  await world.add({ type: 'deposit', status: 'confirmed', token: 'eth', amount: '7', at, address: world.own })
  // The ledger has no entry for this operation.
  await world.add({ type: 'deposit', token: 'eth', amount: '5', at, address: world.own, isBooked: false })
})
afterAll(() => world.close())

function requestOfOwner() {
  const { vault, owner } = world
  const member = {
    userId: owner.userId,
    kind: 'person',
    email: 'treasurer@example.org',
    isPlatformAdmin: false,
    sessionId: null,
    scopes: null,
    expiresAt: null,
    vault: { id: vault.id, code: vault.code, name: 'Reports', lockedAt: null, protection: 'off' },
    groupIds: [],
    isAdmin: false,
    isAuditor: false,
    isHeld: false,
    readsAll: false,
  } satisfies Member
  const query = { addressId: world.own.id, from: '2026-01-01', to: '2027-01-01', timezone: 'UTC' }
  return { ...readActivityRequest('address_activity', member, query, new Date()), member, query }
}

describe('statements with two forms', () => {
  it('order statistics are the same for few tokens, which are distinguished while read, and for many, which are grouped', async () => {
    const { filter } = requestOfOwner()
    await inSnapshot(world.test.deps.db, async (trx) => {
      const { overall } = await sumOperations(trx, filter, [filter.interval.from])
      const few = [...new Set(overall.map(({ tokenId }) => tokenId))]
      const many = [...few, ...Array.from({ length: 16 }, (_, index) => `unknown-${index}`)]
      const ofFew = await listOrderStatistics(trx, filter, few)
      expect([...ofFew.values()].sort((a, b) => Number(a.upper - b.upper))).toEqual([
        { smallest: 1_000_000n, lower: 2_000_000n, upper: 3_000_000n, largest: 4_000_000n },
        { smallest: 5n * 10n ** 18n, lower: 5n * 10n ** 18n, upper: 7n * 10n ** 18n, largest: 7n * 10n ** 18n },
      ])
      expect(await listOrderStatistics(trx, filter, many)).toEqual(ofFew)
    })
  })

  it('missing entries are the same in a report of few operations and of many, and the plan of later statements is free', async () => {
    const { filter } = requestOfOwner()
    await inSnapshot(world.test.deps.db, async (trx) => {
      const { overall } = await sumOperations(trx, filter, [filter.interval.from])
      const asMany = overall.map((group) => ({ ...group, count: 100_000 }))
      expect(await countMissingEntries(trx, filter, overall)).toBe(1)
      expect(await countMissingEntries(trx, filter, asMany)).toBe(1)
      const { rows } = await sql`show enable_hashjoin`.execute(trx)
      expect(rows).toEqual([{ enable_hashjoin: 'on' }])
    })
  })

  it('sums and exceptions are the same for few operations, which are named, and for many', async () => {
    const request = requestOfOwner()
    const later = await world.addCounterparty('Later', '2026-06-01T00:00:00.000Z')
    const id = await world.add({
      at: '2026-03-02T00:00:00.000Z',
      amount: '9',
      address: world.own,
      otherSide: later.address,
    })
    const { member, query } = request
    const { addressId, ...interval } = query
    const exceptionsRequest = readExceptionsRequest(
      'operations_exceptions',
      member,
      { ...interval, ownAddressIds: [addressId] },
      request.now,
    )
    const { dataQuality, items } = await buildExceptions(world.test.deps.db, exceptionsRequest)
    expect(dataQuality).toMatchObject({
      totalOperations: 7,
      retroactivelyMatchedOperations: 1,
      missingLedgerEntries: 1,
    })
    await inSnapshot(world.test.deps.db, async (trx) => {
      const named = await nameFew(trx, request)
      expect(named.filter.operationIds).toHaveLength(7)
      const [few, many] = [
        await sumOperations(trx, named.filter, [request.filter.interval.from]),
        await sumOperations(trx, request.filter, [request.filter.interval.from]),
      ]
      expect(few).toEqual(many)
      const unnamed = await listExceptions(trx, exceptionsRequest, dataQuality)
      expect(unnamed.map((row) => [row.id, row.exceptions])).toEqual(items.map((item) => [item.id, item.exceptions]))
      expect(items.find((item) => item.id === id)?.exceptions).toContain('retroactivelyMatchedOperations')
    })
  })
})

describe('a report of activity', () => {
  it('needs at most 16 statements, with begin and commit', async () => {
    const query = vi.spyOn(pg.Client.prototype, 'query')
    const { summary } = await buildActivity(world.test.deps.db, requestOfOwner())
    expect(summary.operationsCount).toBeGreaterThan(5)
    // Other connections of this process may ask the database meanwhile.
    const { calls, contexts } = query.mock
    const texts = calls.map(([text]) => String(text))
    const connection = contexts[texts.findIndex((text) => text.startsWith('start transaction isolation level'))]
    const statements = texts.filter((_, index) => contexts[index] === connection)
    expect(statements.at(-1)).toBe('commit')
    expect(statements.length).toBeGreaterThan(9)
    expect(statements.length).toBeLessThanOrEqual(16)
  })
})
