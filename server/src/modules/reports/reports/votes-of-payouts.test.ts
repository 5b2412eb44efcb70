import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Member } from '../../../access/caller.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { summarizeVotes } from '../activity/votes.ts'
import { isReported } from '../requests/operation-filter.ts'
import { countRows, inSnapshot, nameFew } from '../requests/reading.ts'
import { readReportRequest } from '../requests/report-request.ts'

/** People vote on a payout as a whole: its rows are operations that needed the votes of their payout. */

let bench: TransferBench
let addressId: string
/** The operations that needed votes, by their status. */
let meant: Record<'pending' | 'rejected' | 'awaiting_approval', string[]>
/** The operations that `huge` asked votes for. */
let huge: string[]
let policyIds: Record<string, string>

beforeAll(async () => {
  bench = await createTransferBench()
  const { owner, firstApprover: first, secondApprover: second, thirdApprover: third, approversId } = bench
  await bench.policy({
    code: 'huge',
    effect: 'requireApproval',
    approvalThreshold: 1,
    rules: amountRule({ op: 'gt', value: '1000' }),
    approvers: [{ kind: 'group', groupId: approversId }],
  })
  const { items } = (await bench.vault.admin.get(`/vaults/${bench.vault.code}/policies?limit=100`)).body
  policyIds = Object.fromEntries(items.map(({ code, id }) => [code, id]))
  addressId = (await bench.fundedAddress({ usdt: '10000' })).id
  const single = async (amount: string) => (await bench.order(addressId, amount)).body.id

  await single('10')
  const approved = await single('200')
  for (const by of [first, second]) await bench.act(by, approved, 'approve')
  const waiting = await single('300')

  const paid = await payout('5', '6', '2000')
  for (const by of [first, third]) await vote(by, paid.id, 'approve')
  const open = await payout('150', '7')
  await vote(first, open.id, 'approve')
  const refused = await payout('160', '8')
  await vote(second, refused.id, 'reject')
  const allowed = await payout('1', '2')
  expect((await owner.get(`/vaults/${bench.vault.code}/payouts/${allowed.id}`)).body.status).toBe('approved')

  await dateVotes(approved, 1)
  await dateVotes(paid.id, 10)
  await dateVotes(open.id, 3)
  await dateVotes(refused.id, 2)
  huge = paid.rows
  meant = {
    pending: [approved, ...paid.rows],
    rejected: refused.rows,
    awaiting_approval: [waiting, ...open.rows],
  }
})
afterAll(() => bench.close())

/** Dates the votes on a transfer or payout so many minutes after its order. */
async function dateVotes(subjectId: string, minutes: number): Promise<void> {
  await bench.sql(
    `update approval_voters set voted_at = created_at + make_interval(mins => $2) where subject_id = $1 and decision is not null`,
    [subjectId, minutes],
  )
}

let rowsOrdered = 0
async function payout(...amounts: string[]): Promise<{ id: string; rows: string[] }> {
  const base = `/vaults/${bench.vault.code}/payouts` as const
  const rows = amounts.map((amount) => {
    rowsOrdered += 1
    const toAddress = fakeAddress(`payee ${rowsOrdered}`)
    return { externalId: `row-${rowsOrdered}`, fromAddressId: addressId, toAddress, amount }
  })
  const { status, body } = await bench.owner.post(base, { rows })
  expect(status).toBe(201)
  const { items } = (await bench.owner.get(`${base}/${body.id}/rows`)).body
  return { id: body.id, rows: items.map(({ transferId }) => transferId) }
}

async function vote(by: Person, id: string, verb: 'approve' | 'reject'): Promise<void> {
  expect((await by.post(`/vaults/${bench.vault.code}/payouts/${id}/${verb}`)).status).toBe(200)
}

const readers = () => [bench.vault.admin, bench.owner]
const sorted = (...lists: string[][]) => lists.flat().sort()

async function listed(query: Record<string, string>, by: Person): Promise<string[]> {
  const { status, body } = await by.get(
    `/vaults/${bench.vault.code}/reports/operations?limit=100&${new URLSearchParams(query)}`,
  )
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items.map(({ id }) => id).sort()
}

const expected = {
  operationsRequiringApproval: 9,
  approvedOperations: 4,
  rejectedOperations: 2,
  cancelledOperations: 0,
  pendingOperations: 3,
  // One waited for a minute, three for ten.
  averageApprovalSeconds: 465,
  medianApprovalSeconds: 600,
  maximumApprovalSeconds: 600,
}

describe('the votes on payouts', () => {
  it('are counted with each of their rows, in every report', async () => {
    for (const by of readers()) {
      const reports = `/vaults/${bench.vault.code}/reports` as const
      expect((await by.get(`${reports}/approval_activity`)).body.approvals).toEqual(expected)
      expect((await by.get(`${reports}/transaction_activity`)).body.approvals).toEqual(expected)
      expect((await by.get(`${reports}/address_activity?addressId=${addressId}`)).body.approvals).toEqual(expected)
    }
  })

  it('are the same whether the operations are named or read from the vault', async () => {
    const { userId } = bench.owner
    const member = {
      userId,
      kind: 'person',
      email: 'owner@example.org',
      isPlatformAdmin: false,
      sessionId: null,
      scopes: null,
      expiresAt: null,
      vault: { id: bench.vault.id, code: bench.vault.code, name: 'Main', lockedAt: null, protection: 'off' },
      groupIds: [],
      isAdmin: false,
      isAuditor: false,
      isHeld: false,
      readsAll: false,
    } satisfies Member
    const request = readReportRequest('approval_activity', member, {}, bench.test.clock.now())
    await inSnapshot(bench.test.deps.db, async (trx) => {
      const named = await nameFew(trx, request)
      expect(named.filter.operationIds).toHaveLength(13)
      const few = await summarizeVotes(trx, named.filter)
      expect(few.counts).toHaveLength(3)
      expect(await summarizeVotes(trx, request.filter)).toEqual(few)
      for (const { filter } of [named, request]) {
        const narrowed = { ...filter, approvalPolicyIds: [policyIds.large!] }
        expect(await countRows(trx, sql`from operations o where ${isReported(narrowed)}`)).toBe(9)
      }
    })
  })

  it('lead from each figure of a policy to exactly its operations', async () => {
    for (const by of readers()) {
      const { byPolicy } = (await by.get(`/vaults/${bench.vault.code}/reports/approval_activity`)).body
      expect(byPolicy).toMatchObject([
        { policyCode: 'large', bypassedOperations: 0, ...expected },
        { policyCode: 'huge', operationsRequiringApproval: 3, approvedOperations: 3, medianApprovalSeconds: 600 },
      ])
      const large = { approvalPolicyIds: policyIds.large! }
      expect(await listed(large, by)).toEqual(sorted(...Object.values(meant)))
      for (const [status, ids] of Object.entries(meant)) {
        expect(await listed({ ...large, statuses: status }, by)).toEqual(sorted(ids))
      }
      expect(await listed({ approvalPolicyIds: policyIds.huge! }, by)).toEqual(sorted(huge))
      expect(await listed({ approvalPolicyIds: `${policyIds.huge},${policyIds.large}` }, by)).toHaveLength(9)
      expect(await listed({ approvalPolicyIds: policyIds.small! }, by)).toEqual([])
      const { items } = (await by.get(`/vaults/${bench.vault.code}/history?statuses=awaiting_approval`)).body
      expect(items.map(({ id }) => id).sort()).toEqual(sorted(meant.awaiting_approval))
    }
  })

  it('narrow any report to the operations that a policy asked votes for', async () => {
    const { body } = await bench.owner.get(
      `/vaults/${bench.vault.code}/reports/transaction_activity?approvalPolicyIds=${policyIds.huge}`,
    )
    expect(body.summary.operationsCount).toBe(3)
    expect(body.approvals).toMatchObject({ operationsRequiringApproval: 3, approvedOperations: 3 })
  })

  it('are one vote of each approver, from the order to the vote', async () => {
    for (const by of readers()) {
      const { byApprover } = (await by.get(`/vaults/${bench.vault.code}/reports/approval_activity`)).body
      const figures = Object.fromEntries(byApprover.map(({ userId, user: _, ...counts }) => [userId, counts]))
      expect(figures[bench.firstApprover.userId]).toMatchObject({
        askedCount: 5,
        approvedCount: 3,
        rejectedCount: 0,
        withoutVoteCount: 2,
        medianVoteSeconds: 180,
        maximumVoteSeconds: 600,
      })
      expect(figures[bench.secondApprover.userId]).toMatchObject({
        askedCount: 5,
        approvedCount: 1,
        rejectedCount: 1,
        withoutVoteCount: 3,
      })
      expect(figures[bench.thirdApprover.userId]).toMatchObject({
        askedCount: 5,
        approvedCount: 1,
        withoutVoteCount: 4,
      })
    }
  })
})
