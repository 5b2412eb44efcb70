import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressScopeOf } from '../../../access/address-scope.ts'
import type { Position } from '../../../lib/cursor.ts'
import { feedScannedRows } from '../../../lib/limits.ts'
import { createTestDatabase } from '../../../testing/database.ts'
import { createCostMeter } from '../../../testing/feed-cost.ts'
import { combineQueries, type FeedQuery, feedQueries } from '../../../testing/feed-queries.ts'
import { type FeedWorld, seedFeedWorld } from '../../../testing/feed-world.ts'
import { listHistory } from './queries.ts'

let client: pg.Client
let database: Awaited<ReturnType<typeof createTestDatabase>>
let meter: ReturnType<typeof createCostMeter>
let world: FeedWorld

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  world = await seedFeedWorld(client, { members: 50, addresses: 2_000, operations: 30_000, shared: 200 })
  meter = createCostMeter(database.url)
})
afterAll(async () => {
  await meter.close()
  await client.end()
  await database.drop()
})

/** In 8 kB pages: five lookups for each of a thousand addresses, three pages deep, and the rows gathered from them. */
const buffersMax = 16_000

async function costOf(readsAll: boolean, { filters, ...wanted }: FeedQuery, after: Position | null = null) {
  const scope = addressScopeOf({ ...memberOf(world), readsAll }, wanted)
  const { cost } = await meter.measure((db) => listHistory(db, scope, filters, { after, limit: 20 }))
  return cost
}

function memberOf({ idOf, vaultId }: FeedWorld) {
  return { userId: idOf('user', 1), readsAll: false, groupIds: [], vault: { id: vaultId } }
}

describe('one page of 30,000 operations', () => {
  it.each<[string, string]>([
    ['none', 'operations_feed'],
    ['direction=in', 'operations_feed'],
    ['direction=out', 'operations_transfer_feed'],
    ['status=awaiting_approval', 'unconfirmed_transfers_pkey'],
    ['status=confirmed', 'operations_transfer_feed'],
    ['status=failed,pending', 'unconfirmed_transfers_pkey'],
    ['initiatorId', 'operations_ordered_feed'],
    ['awaitingMyApproval', 'approval_eligibilities_open'],
    ['asset', 'operations_token_feed'],
    ['tokenId', 'operations_token_feed'],
    ['network', 'operations_token_feed'],
    ['addressId', 'operations_address_feed'],
    ['folderId', 'operations_address_feed'],
    ['large folderId', 'operations_address_feed'],
    ['counterpartyId', 'operations_counterparty'],
    ['counterpartyGroupId', 'operations_counterparty'],
    ['large counterpartyGroupId', 'operations_counterparty'],
    ['counterpartyAddressId', 'operations_counterparty_address_feed'],
    ['flowType=internal', 'operations_internal_feed'],
    ['category', 'category_assignments_feed'],
    ['paymentPurpose', 'operations_purpose_feed'],
    ['decisionPolicyId', 'transfers_policy_feed'],
    ['txHash', 'transfer_hashes_pkey'],
    ['from', 'operations_feed'],
  ])('by %s is read along %s', async (name, index) => {
    const { indexes, seqScans } = await costOf(true, feedQueries(world)[name]!)
    expect(indexes).toContain(index)
    expect(seqScans).toEqual([])
  })

  // Every filter alone, and every third combination; `npm run nightly:history` takes all of them.
  const step = process.env.HISTORY_PAIRS === 'all' ? 1 : 3
  it.each([
    ['administrator', 0],
    ['member', 1],
  ])('by every filter and every two of them costs the %s a bounded read', async (who, first) => {
    const queries = Object.entries(feedQueries(world))
    for (const [i, [name, query]] of queries.entries()) {
      for (const [j, [other, more]] of queries.entries()) {
        if (j < i || (j > i && (i + j) % step !== first % step)) continue
        const { seqScans, buffers } = await costOf(who === 'administrator', combineQueries(query, more))
        expect([name, other, seqScans]).toEqual([name, other, []])
        expect(buffers, `${name} and ${other}`).toBeLessThan(buffersMax)
      }
    }
  })

  it('T40 no page of a member leads through an index of the operations of others', async () => {
    const allowed = ['operations_owner_feed', 'operations_initiated_feed', 'operations_address_feed', 'operations_pkey']
    for (const [name, query] of Object.entries(feedQueries(world))) {
      if (name === 'txHash' || name === 'includeShared') continue
      const { indexes } = await costOf(false, query)
      const others = indexes.filter((index) => index.startsWith('operations_') && !allowed.includes(index))
      expect([name, others]).toEqual([name, []])
    }
  })

  it('T40 for many shared addresses the same number of rows is read, whatever their owners', async () => {
    const query = feedQueries(world).includeShared!
    let after: Position | null = null
    for (let page = 1; page <= 3; page += 1) {
      const { rowsOf } = await costOf(false, query, after)
      expect(rowsOf.operations_feed).toBe(feedScannedRows)
      expect(rowsOf.operations_address_feed ?? 0).toBe(0)
      const scope = addressScopeOf(memberOf(world), { includeShared: true })
      after = (await listHistory(meter.db, scope, query.filters, { after, limit: 20 })).next
    }
    const { rowsOf } = await costOf(true, feedQueries(world)['large folderId']!)
    expect(rowsOf.operations_feed).toBeLessThan(100)
  })

  it('shared addresses are found by their grantee, not among all grants of the vault', async () => {
    const { indexes } = await costOf(false, feedQueries(world).includeShared!)
    const ofGrants = indexes.filter((index) => index.startsWith('address_g'))
    expect(new Set(ofGrants)).toEqual(
      new Set([
        'address_grants_of_subject',
        'address_group_grants_of_subject',
        'address_group_members_once',
        // By the id of the one address that resembles the other side of an operation.
        'address_grants_of_address',
        'address_group_members_of_address',
      ]),
    )
  })

  it.each([['none'], ['direction=in'], ['direction=out'], ['flowType=external']])(
    'by %s: page 400 costs as much as page 1',
    async (name) => {
      const query = feedQueries(world)[name]!
      const scope = addressScopeOf({ userId: 'x', readsAll: true, groupIds: [], vault: { id: world.vaultId } })
      let after: Position | null = null
      for (let pages = 1; pages < 400; pages += 5) {
        after = (await listHistory(meter.db, scope, query.filters, { after, limit: 100 })).next
      }
      const [first, deep] = [await costOf(true, query), await costOf(true, query, after)]
      expect(after).not.toBeNull()
      expect(deep.buffers / first.buffers).toBeLessThan(1.1)
    },
  )

  // Must be the last test, because it fills the world.
  it('awaitingMyApproval costs as much as its page, however many requests wait', async () => {
    const query = feedQueries(world).awaitingMyApproval!
    const before = await costOf(false, query)
    await client.query(`update operations set status = 'awaiting_approval' where type = 'transfer'`)
    const { rowCount } = await client.query(
      `insert into approval_voters (vault_id, id, subject_id, user_id, created_at)
       select vault_id, id, id, $1, created_at from operations where type = 'transfer' on conflict do nothing`,
      [world.idOf('user', 1)],
    )
    expect(rowCount).toBeGreaterThan(5_000)
    await client.query(
      `insert into approval_eligibilities (vault_id, subject_id, user_id, policy_id)
       select vault_id, id, $1, 'x' from operations where type = 'transfer' on conflict do nothing`,
      [world.idOf('user', 1)],
    )
    await client.query('vacuum (analyze)')
    const { buffers } = await costOf(false, query)
    expect(buffers / before.buffers).toBeLessThan(1.5)
  })
})
