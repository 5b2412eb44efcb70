import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress({ usdt: '1000000' })
})
afterAll(() => bench.close())

const waiting = async () => (await bench.order(address.id, '200')).body.id
const memberOf = (person: Person) => `/policy-groups/${bench.approversId}/members/${person.userId}` as const

/** The answer to a vote and to a cancellation is made from read and written values, without reading them again. */
describe('the answer equals the transfer that is read afterwards', () => {
  async function isReadAs(by: Person, id: string, verb: 'approve' | 'reject' | 'cancel', more?: { comment: string }) {
    bench.test.clock.advance(1234)
    const answer = await bench.act(by, id, verb, more)
    expect(answer.status).toBe(200)
    const { decision: _, recipient: __, holds, isExposed, ...read } = await bench.read(id, by)
    expect(answer.body).toEqual(read)
    expect({ holds, isExposed }).toEqual({ holds: [], isExposed: false })
    return answer.body
  }

  it('of a vote that is not the last, and of the last one', async () => {
    const id = await waiting()
    const first = await isReadAs(bench.firstApprover, id, 'approve', { comment: 'Agreed' })
    const { userId } = bench.firstApprover
    const voter = first.approvers.find(({ user }) => user.id === userId)
    expect(voter).toMatchObject({ decision: 'approve', comment: 'Agreed', counts: true, canVote: false })
    expect([first.status, first.approvalRequirements[0]!.approvalsCount]).toEqual(['awaiting_approval', 1])
    const last = await isReadAs(bench.secondApprover, id, 'approve')
    expect([last.status, last.approvalRequirements[0]!.approvalsCount]).toEqual(['pending', 2])
  })

  it('of a veto', async () => {
    const id = await waiting()
    await bench.act(bench.firstApprover, id, 'approve')
    const vetoed = await isReadAs(bench.secondApprover, id, 'reject', { comment: 'Not agreed' })
    expect([vetoed.status, vetoed.failureReason]).toEqual(['rejected', null])
  })

  it('of a vote after another vote that no longer counts', async () => {
    const id = await waiting()
    await bench.act(bench.firstApprover, id, 'approve')
    expect((await bench.vault.admin.delete(memberOf(bench.firstApprover))).status).toBe(204)
    const voted = await isReadAs(bench.secondApprover, id, 'approve')
    expect([voted.status, voted.approvalRequirements[0]!.approvalsCount]).toEqual(['awaiting_approval', 1])
    const back = { userId: bench.firstApprover.userId }
    expect((await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, back)).status).toBe(201)
  })

  it('of a cancellation while it waits, and of a queued one', async () => {
    expect((await isReadAs(bench.owner, await waiting(), 'cancel')).status).toBe('cancelled')
    const { body } = await bench.order(address.id, '1')
    expect(body.status).toBe('pending')
    expect((await isReadAs(bench.vault.admin, body.id, 'cancel')).status).toBe('cancelled')
  })
})

/** A vote locks its transfer first, and reads everything else after it. */
describe('while a vote waits for its transfer', () => {
  /** Starts `vote` while another session has locked the transfer, and runs `meanwhile` after the vote has begun to wait. */
  async function meanwhile<Answer>(id: string, vote: () => Promise<Answer>, work: () => Promise<void>) {
    const answer = await bench.rolledBack(async (query) => {
      await query('select from operations where id = $1 for update', [id])
      const answer = vote()
      await waitsForLock(1)
      await work()
      return { answer }
    })
    return answer.answer
  }

  async function waitsForLock(count: number) {
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await bench.sql(waits)).length, { timeout: 20_000 }).toBe(count)
  }

  it('T33 an approver who leaves has no vote', async () => {
    const id = await waiting()
    const answer = await meanwhile(
      id,
      () => bench.act(bench.thirdApprover, id, 'approve'),
      async () => expect((await bench.vault.admin.delete(memberOf(bench.thirdApprover))).status).toBe(204),
    )
    expect([answer.status, answer.body.reason]).toEqual([403, 'not_an_approver'])
    const back = { userId: bench.thirdApprover.userId }
    expect((await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, back)).status).toBe(201)
  })

  it('T33 a vote of an approver who leaves does not count for the last one', async () => {
    const id = await waiting()
    await bench.act(bench.firstApprover, id, 'approve')
    const answer = await meanwhile(
      id,
      () => bench.act(bench.secondApprover, id, 'approve'),
      async () => expect((await bench.vault.admin.delete(memberOf(bench.firstApprover))).status).toBe(204),
    )
    expect([answer.status, answer.body.status]).toEqual([200, 'awaiting_approval'])
    expect(answer.body.approvalRequirements[0]!.approvalsCount).toBe(1)
    const back = { userId: bench.firstApprover.userId }
    expect((await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, back)).status).toBe(201)
  })

  it('a hold is placed after the vote', async () => {
    const id = await waiting()
    await bench.act(bench.firstApprover, id, 'approve')
    const hold = { subjectType: 'transfer', subjectId: id, reason: 'Something is wrong' } as const
    let placing: Promise<{ status: number }> | undefined
    const answer = await meanwhile(
      id,
      () => bench.act(bench.secondApprover, id, 'approve'),
      async () => {
        placing = bench.vault.admin.post('/vaults/main-vault/holds', hold)
        await waitsForLock(2)
      },
    )
    expect([answer.status, answer.body.status]).toEqual([200, 'pending'])
    expect((await placing!).status).toBe(201)
    expect((await bench.act(bench.owner, id, 'cancel')).body.reason).toBe('held')
  })

  it('T4 the funds of a cancellation and a veto are released once', async () => {
    const id = await waiting()
    const before = await bench.balances(address.id)
    const answers = await Promise.all([
      bench.act(bench.owner, id, 'cancel'),
      bench.act(bench.firstApprover, id, 'reject'),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const after = await bench.balances(address.id)
    expect(Number(after.available) - Number(before.available)).toBe(200)
    await bench.expectSoundLedger()
  })
})
