import type { KyselyPlugin, RootOperationNode } from 'kysely'
import { createQueryId } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { listRelations, type RelationFilter } from './queries.ts'

let bench: TransferBench
const relationsOfOthers = 20_000
/** 8 KiB each: a few index lookups and some rows; to read all relations would take hundreds. */
const blocksMax = 150

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const everything: RelationFilter = {
  relationType: null,
  sourceOperationId: null,
  targetOperationId: null,
  tokenId: null,
  from: null,
  to: null,
  after: null,
  limit: 5,
}

/** Blocks that the database touches for one page of the list. */
async function blocksOf(person: Person, readsAll: boolean, filter: Partial<RelationFilter>): Promise<number> {
  const { db } = bench.test.deps
  const nodes: RootOperationNode[] = []
  const listener: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const scope = visibleScopeOf({ userId: person.userId, readsAll, groupIds: [], vault: { id: bench.vault.id } })
  await listRelations(db.withPlugin(listener), scope, { ...everything, ...filter })
  const { sql, parameters } = db.getExecutor().compileQuery(nodes[0]!, createQueryId())
  const [row] = await bench.sql(`explain (analyze, buffers, format json) ${sql}`, [...parameters])
  const { Plan: plan } = row['QUERY PLAN'][0]
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

it('a page of the list costs the same however many relations others have', async () => {
  const { admin, tokens, id: vaultId } = bench.vault
  const viewer = await addMember(bench.test, bench.vault, 'viewer@example.org')
  const others = await addMember(bench.test, bench.vault, 'others@example.org', ['treasury'])
  const depositIds = async (by: Person) => {
    const address = await bench.fundedAddress({ usdt: '0' }, by)
    const made = []
    for (const amount of ['10', '20']) {
      made.push((await deposit(bench.test, { address: address.address, asset: usdtContract, amount })).body.depositId)
    }
    return { addressId: address.id, ids: made as [string, string] }
  }
  const mine = await depositIds(bench.owner)
  const theirs = await depositIds(others)
  const relation = await bench.owner.post('/vaults/main-vault/operation-relations', {
    sourceOperationType: 'deposit',
    sourceOperationId: mine.ids[0],
    targetOperationType: 'deposit',
    targetOperationId: mine.ids[1],
    relationType: 'correction',
  })
  expect(relation.status).toBe(201)
  await bench.sql(
    `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
     values ($1, 'cgrant', $2, 'user', $3, true, false, $4, now())`,
    [vaultId, mine.addressId, viewer.userId, bench.owner.userId],
  )
  // All newer than the one relation that the members query.
  await bench.sql(
    `insert into operations (vault_id, id, type, status, address_id, owner_id, network_id, token_id, amount, flow_type,
       created_at, updated_at)
     select vault_id, id || '-' || n, type, status, address_id, owner_id, network_id, token_id, amount, flow_type,
       created_at + n * interval '1 second', updated_at
     from operations, generate_series(1, $2::int) n where id = $1`,
    [theirs.ids[0], relationsOfOthers],
  )
  await bench.sql(
    `with made as (
       insert into operation_relations (vault_id, id, source_operation_type, source_operation_id, source_address_id,
         target_operation_type, target_operation_id, relation_type, token_id, created_by_id, created_at)
       select vault_id, id, type, id, address_id, type, $1, 'refund', token_id, owner_id, created_at
       from operations where id like $2 || '-%' returning *
     )
     insert into operation_relation_readers (vault_id, user_id, relation_created_at, relation_id)
     select vault_id, created_by_id, created_at, id from made`,
    [theirs.ids[1], theirs.ids[0]],
  )
  await bench.sql('vacuum analyze operations, operation_relations, operation_relation_readers')
  const [{ blocks }] = await bench.sql(
    `select pg_relation_size('operation_relations') / current_setting('block_size')::int as blocks`,
  )
  expect(Number(blocks)).toBeGreaterThan(2 * blocksMax)

  for (const [person, readsAll] of [
    [bench.owner, false],
    [viewer, false],
    [bench.firstApprover, false],
    [others, false],
    [admin, true],
  ] as const) {
    for (const filter of [
      {},
      { relationType: 'correction' },
      { relationType: 'refund' },
      { relationType: 'reversal' },
      { tokenId: tokens.usdt.id },
      { tokenId: tokens.eth.id },
      { to: new Date('2026-01-01') },
      { sourceOperationId: mine.ids[0] },
      { targetOperationId: mine.ids[1] },
      { after: { createdAt: new Date('2999-01-01'), id: relation.body.id } },
    ] satisfies Partial<RelationFilter>[]) {
      const found = await blocksOf(person, readsAll, filter)
      expect([person.email, filter, found]).toEqual([person.email, filter, expect.toSatisfy((n) => n <= blocksMax)])
    }
  }
})
