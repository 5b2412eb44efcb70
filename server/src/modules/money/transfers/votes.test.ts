import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, ensureGroup } from '../../../testing/fixtures.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { expireTransfers } from './transfer-votes.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
})
afterEach(() => bench.expectSoundLedger())

async function waiting(amount = '200'): Promise<string> {
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  return body.id
}

const approve = (by: Person, id: string, body?: object) => bench.act(by, id, 'approve', body)
const reject = (by: Person, id: string, body?: object) => bench.act(by, id, 'reject', body)
const statusOf = async (id: string) => (await bench.read(id, bench.vault.admin)).status
const countOf = async (id: string) => (await bench.read(id, bench.vault.admin)).approvalRequirements[0]!.approvalsCount

describe('approving', () => {
  it('counts votes and delivers the transfer after the last required one', async () => {
    const id = await waiting()
    const first = await approve(bench.firstApprover, id, { comment: 'Checked against the invoice' })
    expect(first.status).toBe(200)
    expect(first.body.approvalRequirements[0]!.approvalsCount).toBe(1)
    expect(first.body.approvers.find((approver) => approver.userId === bench.firstApprover.userId)).toMatchObject({
      decision: 'approve',
      comment: 'Checked against the invoice',
    })
    const second = await approve(bench.secondApprover, id)
    expect(second.body.status).toBe('pending')
    expect(await bench.balances(address.id)).toEqual({ available: '800', reserved: '200' })
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.audited('transfer.approved', id)).toBe(2)
    expect(await bench.audited('transfer.released', id)).toBe(1)
  })
})

describe('T27 a vote on the shown content', () => {
  it('names its hash, which a browser computes from the payload of the answer', async () => {
    const id = await waiting()
    const { payload, payloadHash } = await bench.read(id, bench.firstApprover)
    expect(await hashInBrowser(payload)).toBe(payloadHash)
    expect((await approve(bench.firstApprover, id, { payloadHash })).status).toBe(200)
    expect((await reject(bench.secondApprover, id, { payloadHash })).body.status).toBe('rejected')
  })

  it('is refused and not counted for another hash, and only after the right to vote is checked', async () => {
    const id = await waiting()
    const { payload } = await bench.read(id, bench.firstApprover)
    const payloadHash = await hashInBrowser({ ...payload, amount: '1' })
    for (const vote of [approve, reject]) {
      const { status, body } = await vote(bench.firstApprover, id, { payloadHash })
      expect([status, body.reason]).toEqual([409, 'payload_changed'])
      const stranger = await vote(bench.owner, id, { payloadHash })
      expect([stranger.status, stranger.body.reason]).toEqual([403, 'not_an_approver'])
    }
    expect([await statusOf(id), await countOf(id)]).toEqual(['awaiting_approval', 0])
    expect(await bench.audited('transfer.approved', id)).toBe(0)
    expect((await approve(bench.firstApprover, id)).status).toBe(200)
  })

  it.each(['abc', 'A'.repeat(64), ''])('is refused for %j, which is not a hash', async (payloadHash) => {
    const answer = await approve(bench.firstApprover, await waiting(), { payloadHash })
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'payloadHash'])
  })
})

describe('rejecting', () => {
  it('is a veto: one is enough, and the funds are released', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    const vetoed = await reject(bench.secondApprover, id, { comment: 'Wrong supplier' })
    expect([vetoed.status, vetoed.body.status]).toEqual([200, 'rejected'])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toBeNull()
  })
})

describe('expiry', () => {
  it('rejects after 72 hours with APPROVAL_EXPIRED and releases the funds', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await expireTransfers(bench.test.deps)
    expect(await statusOf(id)).toBe('awaiting_approval')
    bench.test.clock.advance(72 * 3_600_000)
    const late = await approve(bench.secondApprover, id)
    expect([late.status, late.body.message]).toEqual([409, 'The time to vote on this transfer has expired'])
    await expireTransfers(bench.test.deps)
    const transfer = await bench.read(id)
    expect([transfer.status, transfer.failureReason]).toEqual(['rejected', 'APPROVAL_EXPIRED'])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
    expect(await bench.audited('transfer.expired', id)).toBe(1)
  })

  it('of one transfer is not delayed by another transfer that cannot be moved', async () => {
    const broken = await waiting()
    const other = await bench.fundedAddress()
    const later = (await bench.order(other.id, '300')).body.id
    const setReserved = (raw: string) =>
      bench.sql(`update ledger_accounts set balance = $2 where address_id = $1 and purpose = 'reserved'`, [
        address.id,
        raw,
      ])
    await setReserved('0')
    await bench.endVoting([broken, later])
    await expireTransfers(bench.test.deps)
    expect([await statusOf(broken), await statusOf(later)]).toEqual(['awaiting_approval', 'rejected'])

    await setReserved('200000000')
    await expireTransfers(bench.test.deps)
    expect(await statusOf(broken)).toBe('rejected')
  })
})

describe('T29 the last vote checks', () => {
  it('T29 the kill switch of the token', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    const { admin, tokens } = bench.vault
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
    const refused = await approve(bench.secondApprover, id)
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })
    expect([refused.status, refused.body.message]).toEqual([409, 'The token is disabled'])
    expect([await statusOf(id), await countOf(id)]).toEqual(['awaiting_approval', 1])
    expect((await approve(bench.secondApprover, id)).body.status).toBe('pending')
  })

  it('T29 policies that block now', async () => {
    const id = await waiting('222')
    await approve(bench.firstApprover, id)
    const stop = {
      code: 'stop',
      effect: 'block',
      blockReason: 'Closed',
      rules: amountRule({ op: 'between', min: '222', max: '222' }),
    }
    const policy = await bench.policy(stop)
    const refused = await approve(bench.secondApprover, id)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect([refused.status, refused.body.message, refused.body.details]).toEqual([
      409,
      'A policy blocks this transfer now',
      'Closed',
    ])
    expect(await statusOf(id)).toBe('awaiting_approval')
  })

  it('T29 the membership of the initiator, whose account may be disabled too', async () => {
    const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['treasury'])
    const ownAddress = await bench.fundedAddress({}, leaver)
    const order = async () => (await bench.order(ownAddress.id, '200', {}, leaver)).body.id
    const [left, disabled] = [await order(), await order()]
    for (const id of [left, disabled]) await approve(bench.firstApprover, id)
    await bench.sql('update users set disabled_at = now() where id = $1', [leaver.userId])
    expect((await approve(bench.secondApprover, disabled)).status).toBe(409)
    await bench.sql('update users set disabled_at = null where id = $1', [leaver.userId])
    const treasury = await ensureGroup(bench.vault, 'treasury')
    expect((await bench.vault.admin.delete(`/policy-groups/${treasury}/members/${leaver.userId}`)).status).toBe(204)
    expect((await approve(bench.secondApprover, left)).status).toBe(409)
    expect(await statusOf(left)).toBe('awaiting_approval')
  })

  it('T29 the lock of the vault', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await bench.sql('update vaults set locked_at = null where id = $1', [bench.vault.id])
    const { status } = await approve(bench.secondApprover, id)
    await bench.sql('update vaults set locked_at = now() where id = $1', [bench.vault.id])
    expect(status).toBe(409)
  })
})

describe('T30 the initiator', () => {
  it('T30 has no vote, not even as a member of the approving group', async () => {
    const both = await addMember(bench.test, bench.vault, 'both@example.org', ['treasury', 'approvers'])
    const ownAddress = await bench.fundedAddress({}, both)
    const { body } = await bench.order(ownAddress.id, '200', {}, both)
    expect(body.approvers.map((approver) => approver.userId)).not.toContain(both.userId)
    for (const verb of ['approve', 'reject'] as const) expect((await bench.act(both, body.id, verb)).status).toBe(403)
    const approvers = await ensureGroup(bench.vault, 'approvers')
    await bench.vault.admin.delete(`/policy-groups/${approvers}/members/${both.userId}`)
  })

  it('T30 has a vote with allowInitiatorApproval, for that policy only', async () => {
    const policy = await bench.policy({
      code: 'initiator-may',
      effect: 'requireApproval',
      approvalThreshold: 1,
      allowInitiatorApproval: true,
      rules: amountRule({ op: 'between', min: '80', max: '280' }),
      approvers: [{ kind: 'user', userId: bench.owner.userId }],
    })
    const alone = (await bench.order(address.id, '80')).body.id
    expect((await approve(bench.owner, alone)).body.status).toBe('pending')

    const both = (await bench.order(address.id, '280')).body.id
    const voted = await approve(bench.owner, both)
    expect(voted.body.status).toBe('awaiting_approval')
    const counts = Object.fromEntries(
      voted.body.approvalRequirements.map((requirement) => [requirement.policyCode, requirement.approvalsCount]),
    )
    expect(counts).toEqual({ large: 0, 'initiator-may': 1 })
    await approve(bench.firstApprover, both)
    expect((await approve(bench.secondApprover, both)).body.status).toBe('pending')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })
})

describe('T31 one person has one vote', () => {
  it('T31 a second vote is a 409, and so is a vote after the resolution', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    for (const vote of [approve, reject]) expect((await vote(bench.firstApprover, id)).status).toBe(409)
    await approve(bench.secondApprover, id)
    for (const vote of [approve, reject]) expect((await vote(bench.thirdApprover, id)).status).toBe(409)
    expect(await countOf(id)).toBe(2)
  })

  it('T31 of 20 votes at once one counts', async () => {
    const id = await waiting()
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(bench.firstApprover, id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)])
    expect([await statusOf(id), await countOf(id)]).toEqual(['awaiting_approval', 1])
    expect(await bench.audited('transfer.approved', id)).toBe(1)
  })

  it('T31 an approver by two groups and by name counts once', async () => {
    const second = await ensureGroup(bench.vault, 'second-approvers')
    for (const { userId } of [bench.firstApprover, bench.secondApprover])
      await bench.vault.admin.post(`/policy-groups/${second}/members`, { userId })
    const policy = await bench.policy({
      code: 'doubly',
      effect: 'requireApproval',
      approvalThreshold: 2,
      rules: amountRule({ op: 'between', min: '90', max: '91' }),
      approvers: [
        { kind: 'group', groupId: second },
        { kind: 'group', groupId: bench.approversId },
        { kind: 'user', userId: bench.firstApprover.userId },
      ],
    })
    const { body } = await bench.order(address.id, '90')
    expect(body.approvers).toHaveLength(3)
    const first = await approve(bench.firstApprover, body.id)
    expect(first.body).toMatchObject({ status: 'awaiting_approval', approvalRequirements: [{ approvalsCount: 1 }] })
    expect((await approve(bench.secondApprover, body.id)).body.status).toBe('pending')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('T31 a user who was not asked has no vote', async () => {
    const id = await waiting()
    expect((await approve(bench.vault.admin, id)).status).toBe(403)
    expect((await approve(bench.owner, id)).status).toBe(403)
    const late = await addMember(bench.test, bench.vault, 'late.approver@example.org', ['approvers'])
    expect((await approve(late, id)).status).toBe(404)
    await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${late.userId}`)
  })
})

describe('T32 concurrent votes', () => {
  it('T32 a last vote and a veto: one wins, never both', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 12; round += 1) {
      const id = await waiting('101')
      await approve(bench.firstApprover, id)
      const votes = [() => approve(bench.secondApprover, id), () => reject(bench.thirdApprover, id)]
      const [yes, no] = await Promise.all(
        round % 2 === 0
          ? votes.map((vote) => vote())
          : votes
              .toReversed()
              .map((vote) => vote())
              .toReversed(),
      )
      expect([yes!.status, no!.status].sort()).toEqual([200, 409])
      const status = await statusOf(id)
      expect(status).toBe(yes!.status === 200 ? 'pending' : 'rejected')
      outcomes.add(status)
      if (status === 'pending') await bench.act(bench.owner, id, 'cancel')
    }
    expect(outcomes.size).toBeGreaterThan(0)
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('T33 two last votes at once do not miss each other', async () => {
    for (let round = 0; round < 6; round += 1) {
      const id = await waiting('101')
      const answers = await Promise.all([approve(bench.firstApprover, id), approve(bench.secondApprover, id)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(await statusOf(id)).toBe('pending')
      expect(await bench.audited('transfer.released', id)).toBe(1)
      await bench.act(bench.owner, id, 'cancel')
    }
  })

  it('T4 last vote, veto, cancellation and expiry at once: one resolution, and the funds move once', async () => {
    for (let round = 0; round < 6; round += 1) {
      const id = await waiting('101')
      await approve(bench.firstApprover, id)
      await bench.endVoting([id], new Date(bench.test.clock.now().getTime() + 3))
      const answers = await Promise.all([
        approve(bench.secondApprover, id),
        reject(bench.thirdApprover, id),
        bench.act(bench.owner, id, 'cancel'),
        bench.act(bench.vault.admin, id, 'cancel'),
        expireTransfers(bench.test.deps),
      ])
      for (const answer of answers) expect([200, 409]).toContain(answer?.status ?? 200)
      const status = await statusOf(id)
      if (status === 'awaiting_approval') await bench.act(bench.owner, id, 'cancel')
      else if (status === 'pending') expect((await bench.act(bench.owner, id, 'cancel')).status).toBe(200)
      expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
      const released = await bench.sql(
        `select count(*) from ledger_entries where operation_id = $1 and kind = 'release'`,
        [id],
      )
      expect(released[0].count).toBe('1')
    }
  })
})

describe('T33 a user who lost the entitlement', () => {
  it('T33 by removal from the group gets a 403, and an earlier vote no longer counts', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${bench.firstApprover.userId}`)
    await bench.vault.admin.post(`/policy-groups/${await ensureGroup(bench.vault, 'treasury')}/members`, {
      userId: bench.firstApprover.userId,
    })
    expect(await countOf(id)).toBe(0)
    expect((await approve(bench.secondApprover, id)).body.status).toBe('awaiting_approval')

    await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${bench.thirdApprover.userId}`)
    await bench.vault.admin.post(`/policy-groups/${await ensureGroup(bench.vault, 'treasury')}/members`, {
      userId: bench.thirdApprover.userId,
    })
    expect((await approve(bench.thirdApprover, id)).status).toBe(403)
    expect((await reject(bench.thirdApprover, id)).status).toBe(403)
    expect(await statusOf(id)).toBe('awaiting_approval')

    for (const { userId } of [bench.firstApprover, bench.thirdApprover])
      await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, { userId })
    expect((await approve(bench.thirdApprover, id)).body.status).toBe('pending')
  })

  it('T33 by a disabled account has no vote, and an earlier one no longer counts', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await bench.sql('update users set disabled_at = now() where id = $1', [bench.firstApprover.userId])
    expect(await countOf(id)).toBe(0)
    expect((await approve(bench.secondApprover, id)).body.status).toBe('awaiting_approval')
    expect((await approve(bench.firstApprover, id)).status).toBe(401)
    await bench.sql('update users set disabled_at = null where id = $1', [bench.firstApprover.userId])
    expect((await approve(bench.thirdApprover, id)).body.status).toBe('pending')
  })
})

describe('the entitlement and the effect of a vote', () => {
  const readAs = async (id: string) => bench.read(id, bench.vault.admin)
  const voterIn = (transfer: { approvers: { userId: string }[] }, { userId }: Person) =>
    transfer.approvers.find((approver) => approver.userId === userId)

  it('T33 shows that the vote of an approver who left is void, and that the quorum cannot be reached', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    const before = await readAs(id)
    expect(before.quorumReachable).toBe(true)
    expect(voterIn(before, bench.firstApprover)).toMatchObject({ counts: true, voidReason: null, canVote: false })
    expect(voterIn(before, bench.secondApprover)).toMatchObject({ counts: false, voidReason: null, canVote: true })

    for (const { userId } of [bench.firstApprover, bench.thirdApprover])
      await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${userId}`)
    const stuck = await readAs(id)
    expect(stuck.quorumReachable).toBe(false)
    expect(voterIn(stuck, bench.firstApprover)).toMatchObject({
      counts: false,
      voidReason: 'not_entitled',
      canVote: false,
    })
    expect(voterIn(stuck, bench.thirdApprover)).toMatchObject({ counts: false, voidReason: null, canVote: false })

    for (const { userId } of [bench.firstApprover, bench.thirdApprover])
      await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, { userId })
    expect((await readAs(id)).quorumReachable).toBe(true)
  })

  it('T33 keeps the votes that counted at the resolution, whoever leaves later', async () => {
    const id = await waiting()
    await approve(bench.firstApprover, id)
    await approve(bench.secondApprover, id)
    await bench.vault.admin.delete(`/policy-groups/${bench.approversId}/members/${bench.firstApprover.userId}`)
    const transfer = await readAs(id)
    expect(transfer.approvalRequirements[0]!.approvalsCount).toBe(2)
    expect(voterIn(transfer, bench.firstApprover)).toMatchObject({ counts: true, voidReason: null, canVote: false })
    expect(voterIn(transfer, bench.thirdApprover)).toMatchObject({ canVote: false })
    await bench.vault.admin.post(`/policy-groups/${bench.approversId}/members`, { userId: bench.firstApprover.userId })
  })
})
