import { createQueryId, type KyselyPlugin, type RootOperationNode } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { findElectorates } from './open.ts'

let bench: TransferBench
const usersOfOthers = 10_000
/** 8 KiB each: the members of the vault; to read all users would take hundreds. */
const blocksMax = 150

beforeAll(async () => {
  bench = await createTransferBench()
  await bench.sql(
    `insert into users (id, email, created_at, updated_at)
     select 'other' || n, 'other' || n || '@example.org', now(), now() from generate_series(1, ${usersOfOthers}) n`,
  )
  await bench.sql('analyze users, policy_group_memberships, policy_groups')
})
afterAll(() => bench.close())

/** Returns the voters of a requirement, and the blocks that the database touches to find them. */
async function votersOf(groupId: string, userId: string | null): Promise<{ count: number; blocks: number }> {
  const { db } = bench.test.deps
  const nodes: RootOperationNode[] = []
  const listener: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const requirement = {
    ...{ policyId: 'policy', policyCode: 'policy', policyName: 'Policy', threshold: 1, groupId },
    ...{ bypassed: false, allowInitiator: false },
    approvers: userId === null ? null : [{ kind: 'user' as const, id: userId }],
  }
  const request = { vaultId: bench.vault.id, initiatorId: bench.owner.userId, requirements: [requirement] }
  const electorates = await findElectorates(db.withPlugin(listener), request)
  const { sql, parameters } = db.getExecutor().compileQuery(nodes[0]!, createQueryId())
  const [row] = await bench.sql(`explain (analyze, buffers, format json) ${sql}`, [...parameters])
  const { Plan: plan } = row['QUERY PLAN'][0]
  const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  return { count: electorates.get('policy')?.count ?? 0, blocks }
}

it('the voters of an order cost the same however many users other vaults have', async () => {
  const [{ members }] = await bench.sql(
    `select count(distinct m.user_id)::int as members from policy_group_memberships m join users u on u.id = m.user_id
     where m.vault_id = $1 and m.user_id <> $2`,
    [bench.vault.id, bench.owner.userId],
  )
  const all = await votersOf(bench.vault.groups.everyone, null)
  const group = await votersOf(bench.approversId, null)
  const named = await votersOf(bench.approversId, bench.firstApprover.userId)
  const stranger = await votersOf(bench.approversId, 'other1')
  expect([all, group, named, stranger].map(({ count }) => count)).toEqual([members, 3, 1, 0])
  for (const { blocks } of [all, group, named, stranger]) expect(blocks).toBeLessThan(blocksMax)
})
