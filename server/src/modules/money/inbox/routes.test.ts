import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inboxCountMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench({ RATE_LIMIT_PER_MINUTE: '0' })
  await bench.policy({
    code: 'new-counterparties',
    actionType: 'counterparty_create',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: bench.approversId }],
  })
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress({ usdt: '100000' })
})

async function waiting(more: object = {}): Promise<string> {
  const { status, body } = await bench.order(address.id, '200', { ...more })
  expect([status, body.status]).toEqual([201, 'awaiting_approval'])
  return body.id
}

async function requested(name: string): Promise<string> {
  const answer = await bench.owner.post(`/vaults/${bench.vault.code}/counterparties`, { name, kind: 'company' })
  expect(answer.status).toBe(202)
  return answer.body.request.id
}

async function inbox(by: Person, state: string, limit = 100) {
  const answer = await by.get(`/inbox?state=${state}&limit=${limit}`)
  expect(answer.status).toBe(200)
  return answer.body.items
}
const idsIn = async (by: Person, state: string) => (await inbox(by, state)).map(({ id }) => id)
const countOf = async (by: Person) => (await by.get('/inbox/count')).body

describe('GET /inbox', () => {
  it('shows the subjects that wait for the vote of the caller, with all that a decision needs', async () => {
    const id = await waiting({ metadata: { paymentPurpose: 'Invoice 4711' } })
    const [item] = await inbox(bench.firstApprover, 'waiting')
    const transfer = await bench.read(id, bench.firstApprover)
    expect(item).toEqual({
      kind: 'transfer',
      id,
      vault: transfer.vault,
      actionType: 'transfer',
      status: 'awaiting_approval',
      initiator: { userId: bench.owner.userId, kind: 'person', name: 'owner', image: null },
      createdAt: transfer.createdAt,
      expiresAt: transfer.expiresAt,
      payloadHash: transfer.payloadHash,
      myDecision: null,
      decidedAt: null,
      votes: { given: 0, needed: 2 },
      transfer: {
        amount: transfer.amount,
        amountDecimal: '200',
        token: { id: transfer.tokenId, code: 'USDT', symbol: transfer.assetSymbol, decimals: 6 },
        network: 'ethereum',
        toAddress: bench.recipient,
        recipientName: null,
        usdValue: transfer.usdValue,
        paymentPurpose: 'Invoice 4711',
      },
      approvalRequest: null,
      payout: null,
    })
  })

  it('shows requests by their subject', async () => {
    const id = await requested('Harbour dues')
    const [item] = await inbox(bench.secondApprover, 'waiting')
    expect(item).toMatchObject({
      kind: 'approval_request',
      id,
      actionType: 'counterparty_create',
      status: 'pending',
      votes: { given: 0, needed: 1 },
      transfer: null,
      approvalRequest: { subject: 'Harbour dues' },
    })
  })

  it('shows a payout as one item, with its sums and none of its transfers', async () => {
    const before = (await countOf(bench.firstApprover)).waiting
    const rows = ['150', '50'].map((amount) => ({
      externalId: `salary ${amount}`,
      fromAddressId: address.id,
      toAddress: bench.recipient,
      token: 'USDT',
      amount,
    }))
    const base = `/vaults/${bench.vault.code}/payouts` as const
    const { body: payout } = await bench.owner.post(base, { name: 'Salaries', rows })
    const transfers = (await bench.owner.get(`${base}/${payout.id}/rows`)).body.items
    const [item] = await inbox(bench.firstApprover, 'waiting')
    expect(item).toEqual({
      kind: 'payout',
      id: payout.id,
      vault: { id: payout.vaultId, code: bench.vault.code, name: 'Main vault' },
      actionType: 'transfer',
      status: 'awaiting_approval',
      initiator: { userId: bench.owner.userId, kind: 'person', name: 'owner', image: null },
      createdAt: payout.createdAt,
      expiresAt: payout.expiresAt,
      payloadHash: payout.payloadHash,
      myDecision: null,
      decidedAt: null,
      votes: { given: 0, needed: 2 },
      transfer: null,
      approvalRequest: null,
      payout: {
        name: 'Salaries',
        rows: 2,
        sums: [{ tokenId: payout.sums[0]!.tokenId, code: 'USDT', symbol: expect.any(String), amountDecimal: '200' }],
      },
    })
    expect((await countOf(bench.firstApprover)).waiting).toBe(before + 1)
    for (const [by, state] of [
      [bench.firstApprover, 'waiting'],
      [bench.owner, 'mine'],
    ] as const) {
      const ids = await idsIn(by, state)
      expect(ids[0]).toBe(payout.id)
      for (const { transferId } of transfers) expect(ids).not.toContain(transferId)
    }
    const { payloadHash } = item!
    expect((await bench.firstApprover.post(`${base}/${payout.id}/approve`, { payloadHash })).status).toBe(200)
    expect((await inbox(bench.firstApprover, 'decided'))[0]).toMatchObject({ id: payout.id, myDecision: 'approve' })
    await bench.sql('update payouts set expires_at = $2 where id = $1', [payout.id, bench.test.clock.now()])
    expect(await idsIn(bench.secondApprover, 'waiting')).not.toContain(payout.id)
    expect((await countOf(bench.secondApprover)).waiting).toBe((await idsIn(bench.secondApprover, 'waiting')).length)
  })

  it('moves a subject from waiting to decided at the vote, and keeps it there', async () => {
    const id = await waiting()
    const before = (await countOf(bench.firstApprover)).waiting
    await bench.act(bench.firstApprover, id, 'approve')
    expect(await idsIn(bench.firstApprover, 'waiting')).not.toContain(id)
    expect((await countOf(bench.firstApprover)).waiting).toBe(before - 1)
    const [decided] = await inbox(bench.firstApprover, 'decided')
    expect(decided).toMatchObject({ id, myDecision: 'approve', votes: { given: 1, needed: 2 } })
    const voter = (await bench.read(id, bench.firstApprover)).approvers.find(
      ({ userId }) => userId === bench.firstApprover.userId,
    )
    expect(decided!.decidedAt).toBe(voter!.votedAt)
    expect(await idsIn(bench.secondApprover, 'waiting')).toContain(id)
    await bench.act(bench.secondApprover, id, 'reject')
    // A resolved request waits for no vote, whether or not the user voted.
    expect(await idsIn(bench.thirdApprover, 'waiting')).not.toContain(id)
    expect(await idsIn(bench.thirdApprover, 'decided')).not.toContain(id)
    expect((await inbox(bench.firstApprover, 'decided'))[0]).toMatchObject({ id, status: 'rejected' })
  })

  it('shows the initiator the subjects that waited for votes, and no others', async () => {
    const plain = (await bench.order(address.id, '1')).body.id
    const [transfer, request] = [await waiting(), await requested('Chandlery')]
    const mine = await idsIn(bench.owner, 'mine')
    expect(mine.slice(0, 2)).toEqual([request, transfer])
    expect(mine).not.toContain(plain)
    expect(await idsIn(bench.owner, 'waiting')).toEqual([])
    expect(await idsIn(bench.firstApprover, 'mine')).toEqual([])
    await bench.act(bench.owner, transfer, 'cancel')
    expect((await inbox(bench.owner, 'mine'))[1]).toMatchObject({ id: transfer, status: 'cancelled', myDecision: null })
  })

  it('leaves out subjects without possible votes: halted or expired', async () => {
    const [halted, expired] = [await waiting(), await waiting()]
    await bench.sql(`update transfers set phase = 'halted', halt_reason = 'x' where id = $1`, [halted])
    await bench.sql('update transfers set expires_at = $2 where id = $1', [expired, bench.test.clock.now()])
    const ids = await idsIn(bench.firstApprover, 'waiting')
    expect(ids).not.toContain(halted)
    expect(ids).not.toContain(expired)
  })

  it('leaves out subjects that the caller may no longer vote on, and vaults that they left', async () => {
    const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['approvers'])
    const [open, voted] = [await waiting(), await waiting()]
    await bench.act(leaver, voted, 'approve')
    expect(await idsIn(leaver, 'waiting')).toContain(open)
    const { admin } = bench.vault
    expect((await admin.delete(`/policy-groups/${bench.approversId}/members/${leaver.userId}`)).status).toBe(204)
    const answers = [await inbox(leaver, 'waiting'), await inbox(leaver, 'decided'), await inbox(leaver, 'mine')]
    expect(answers).toEqual([[], [], []])
    expect(await countOf(leaver)).toEqual({ waiting: 0, waitingCapped: false })
  })

  it('lists the subjects of all vaults of the caller, page by page, each once', async () => {
    const other = await createVaultFixture(bench.test, { code: 'second-vault' })
    await addMember(bench.test, other, bench.owner.email, ['treasury'])
    await addMember(bench.test, other, bench.firstApprover.email, ['approvers'])
    const groups = (await other.admin.get(`/vaults/${other.code}/policy-groups?limit=100`)).body.items
    const groupId = groups.find(({ code }) => code === 'approvers')!.id
    const everyone = groups.find(({ code }) => code === 'everyone')!.id
    await other.admin.post(`/policy-groups/${everyone}/policies`, {
      code: 'new-counterparties',
      name: 'New counterparties',
      actionType: 'counterparty_create',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId }],
    })
    const there = await bench.owner.post(`/vaults/${other.code}/counterparties`, { name: 'Elsewhere', kind: 'company' })
    expect(there.status).toBe(202)
    const expected = [await waiting(), await requested('Here'), there.body.request.id]
    for (const [by, state] of [
      [bench.firstApprover, 'waiting'],
      [bench.owner, 'mine'],
    ] as const) {
      const all = await idsIn(by, state)
      expect(all).toEqual(expect.arrayContaining(expected))
      const paged: string[] = []
      for (let cursor = ''; paged.length <= all.length; ) {
        const { body } = await by.get(`/inbox?state=${state}&limit=2${cursor}`)
        paged.push(...body.items.map(({ id }) => id))
        if (body.nextCursor === null) break
        cursor = `&cursor=${body.nextCursor}`
      }
      expect(paged).toEqual(all)
    }
    const { nextCursor } = (await bench.owner.get('/inbox?state=mine&limit=1')).body
    const foreign = await bench.owner.get(`/inbox?state=decided&cursor=${nextCursor}`)
    expect([foreign.status, foreign.body.reason]).toEqual([400, 'invalid_cursor'])
    await other.wallet.close()
  })

  it('needs a session, and refuses unknown states', async () => {
    expect((await bench.test.anonymous.get('/inbox')).status).toBe(401)
    expect((await bench.test.anonymous.get('/inbox/count')).status).toBe(401)
    expect((await bench.owner.get('/inbox?state=all')).status).toBe(400)
  })
})

describe('GET /inbox/count', () => {
  it(`counts to ${inboxCountMax}`, async () => {
    const voter = await addMember(bench.test, bench.vault, 'busy@example.org', ['approvers'])
    expect(await countOf(voter)).toEqual({ waiting: 0, waitingCapped: false })
    await requested('One')
    expect(await countOf(voter)).toEqual({ waiting: 1, waitingCapped: false })
    await bench.sql(
      `with original as (select r.* from approval_requests r join approval_voters w on w.subject_id = r.id
         where w.user_id = $1 and r.status = 'pending' limit 1),
       copies as (insert into approval_requests
         select (jsonb_populate_record(null::approval_requests, to_jsonb(o) || jsonb_build_object('id', o.id || n))).*
         from original o, generate_series(1, $2::int) n returning vault_id, id, created_at),
       voters as (insert into approval_voters (vault_id, id, subject_id, user_id, created_at)
         select vault_id, id, id, $1, created_at from copies)
       insert into approval_eligibilities (vault_id, subject_id, user_id, policy_id, group_id)
         select vault_id, id, $1, 'p', $3 from copies`,
      [voter.userId, inboxCountMax, bench.approversId],
    )
    expect(await countOf(voter)).toEqual({ waiting: inboxCountMax, waitingCapped: true })
    await bench.sql('delete from approval_requests where length(id) > 25')
  })
})
