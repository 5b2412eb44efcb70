import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Address } from '../../../testing/answer.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { askPolicies, createKeptPolicies, listCandidates, type SentPolicies } from './candidates.ts'

let bench: TransferBench
let address: Address
let groupIds: string[]

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress()
  const groups = await bench.sql('select id from policy_groups where vault_id = $1', [bench.vault.id])
  groupIds = groups.map(({ id }) => id)
})
afterAll(() => bench.close())

/** Runs the statement that asks for policies. Its policies are null when the policies in memory are up to date. */
async function ask(db: Db | Trx): Promise<{ sent: SentPolicies; codes: string[] }> {
  const query = askPolicies(bench.vault.id, 'transfer')
  const { rows } = await sql<{ sent: SentPolicies }>`select ${query.column} as sent`.execute(db)
  const { sent } = rows[0]!
  return { sent, codes: query.read(sent, groupIds).map(({ code }) => code) }
}

describe('policies that are kept in memory', () => {
  it('are sent once for each state of the rules', async () => {
    const { db } = bench.test.deps
    const first = await ask(db)
    const second = await ask(db)
    expect(first.codes.toSorted()).toEqual(['absurd', 'large', 'small'])
    expect(second).toEqual({ sent: { state: first.sent.state, policies: null }, codes: first.codes })
  })

  it('are those of the groups that are asked for', async () => {
    expect(await listCandidates(bench.test.deps.db, bench.vault.id, 'transfer', [])).toEqual([])
  })

  it('cannot be changed by a decision', async () => {
    const [policy] = await listCandidates(bench.test.deps.db, bench.vault.id, 'transfer', groupIds)
    expect(() => policy!.rules.splice(0)).toThrow(TypeError)
  })

  // The connection of the test stands for another node: this process does not learn of its changes.
  it.each([
    ['a policy is switched off', `update policies set enabled = false where code = 'small'`, 403],
    ['a policy is switched on again', `update policies set enabled = true where code = 'small'`, 201],
    ['a policy gets another effect', `update policies set effect = 'block' where code = 'small'`, 403],
    ['a policy allows again', `update policies set effect = 'allow' where code = 'small'`, 201],
    [
      'a policy is new',
      `insert into policies select (jsonb_populate_record(p, '{"id": "cmnewpolicy0000000000000", "code": "new", "effect": "block"}')).*
        from policies p where code = 'small'`,
      403,
    ],
    ['the new policy is gone', `delete from policies where code = 'new'`, 201],
    ['a policy is gone', `delete from policies where code = 'small'`, 403],
  ])('are up to date for the next order when elsewhere %s', async (_, change, status) => {
    await ask(bench.test.deps.db)
    await bench.sql(change)
    expect((await bench.order(address.id, '1')).status).toBe(status)
  })

  it('have the approvers that they have now', async () => {
    const approversOf = async () => {
      const policies = await listCandidates(bench.test.deps.db, bench.vault.id, 'transfer', groupIds)
      return policies.find(({ code }) => code === 'large')!.approvers
    }
    expect(await approversOf()).toEqual([{ kind: 'group', id: bench.approversId }])
    const ofLarge = `policy_id = (select id from policies where code = 'large')`
    await bench.sql(`update policy_approvers set threshold = 1 where ${ofLarge}`)
    expect(await approversOf()).toEqual([{ kind: 'group', id: bench.approversId, threshold: 1 }])
    const [approver] = await bench.sql(`select to_jsonb(a) as row from policy_approvers a where ${ofLarge}`)
    await bench.sql(`delete from policy_approvers where ${ofLarge}`)
    expect(await approversOf()).toEqual([])
    await bench.sql('insert into policy_approvers select * from jsonb_populate_record(null::policy_approvers, $1)', [
      approver!.row,
    ])
    expect(await approversOf()).toEqual([{ kind: 'group', id: bench.approversId, threshold: 1 }])
  })

  it('do not come from a transaction that was rolled back', async () => {
    const { db } = bench.test.deps
    const before = await ask(db)
    const rolledBack = new Error('rolled back')
    const inside = inTransaction(db, async (trx) => {
      await sql`update policies set enabled = false where code = 'absurd'`.execute(trx)
      expect((await ask(trx)).codes).toEqual(['large'])
      throw rolledBack
    })
    await expect(inside).rejects.toBe(rolledBack)
    expect((await ask(db)).codes).toEqual(before.codes)
    await bench.sql(`update policies set enabled = false where code = 'large'`)
    expect((await ask(db)).codes).toEqual(['absurd'])
  })
})

describe('the memory for policies', () => {
  const policies = (length: number) => ({ state: String(length), policies: [], length })

  it('is bounded, and drops the least recently used policies first', () => {
    const kept = createKeptPolicies(100)
    for (const key of ['a', 'b', 'c']) kept.keep(key, policies(40))
    expect([kept.find('a'), kept.find('b')?.length, kept.find('c')?.length, kept.length()]).toEqual([null, 40, 40, 80])
    kept.find('b')
    kept.keep('d', policies(30))
    expect([kept.find('c'), kept.find('b')?.length, kept.length()]).toEqual([null, 40, 70])
  })

  it('keeps one state of a key, and nothing that is too long', () => {
    const kept = createKeptPolicies(100)
    kept.keep('a', policies(60))
    kept.keep('a', policies(90))
    expect([kept.find('a')?.length, kept.length()]).toEqual([90, 90])
    kept.keep('a', policies(101))
    expect([kept.find('a'), kept.length()]).toEqual([null, 0])
  })
})
