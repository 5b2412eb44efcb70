import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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

type Vote = { kind: string; id: string; payloadHash: string; vaultCode?: string; decision?: string; comment?: string }

async function transfer(): Promise<Vote> {
  const { body } = await bench.order(address.id, '200')
  const { payloadHash } = await bench.read(body.id, bench.firstApprover)
  return { kind: 'transfer', id: body.id, payloadHash }
}

async function request(name: string): Promise<Vote> {
  const { body } = await bench.owner.post('/vaults/main-vault/counterparties', { name, kind: 'company' })
  const { id } = body.request
  const { payloadHash } = (await bench.firstApprover.get(`/vaults/main-vault/approval-requests/${id}`)).body
  return { kind: 'approval_request', id, payloadHash }
}

const send = (by: Person, votes: Vote[], headers?: Record<string, string>) => {
  const body = { votes: votes.map((vote) => ({ vaultCode: 'main-vault', decision: 'approve', ...vote })) }
  return by.post('/inbox/votes', body, headers)
}
const cast = async (by: Person, ...votes: Vote[]) => {
  const { status, body } = await send(by, votes)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.items.map(({ id }) => id)).toEqual(votes.map(({ id }) => id))
  return body.items.map((item) => item.error?.reason ?? item.status)
}

describe('several votes at once', () => {
  it('are cast separately, and a refused vote stops no other', async () => {
    const [first, second, third] = [await transfer(), await transfer(), await transfer()]
    const supplier = await request('A supplier')
    const wrong = { ...third!, payloadHash: '0'.repeat(64) }
    expect(
      await cast(
        bench.firstApprover,
        first!,
        wrong,
        { ...second!, decision: 'reject', comment: 'No invoice' },
        supplier,
      ),
    ).toEqual(['awaiting_approval', 'payload_changed', 'rejected', 'applied'])
    expect(await cast(bench.secondApprover, first!, second!, third!)).toEqual([
      'pending',
      'wrong_state',
      'awaiting_approval',
    ])
    expect(await bench.audited('transfer.approved', first!.id)).toBe(2)
    expect(await bench.audited('transfer.rejected', second!.id)).toBe(1)
    const { approvers } = await bench.read(second!.id)
    expect(approvers.map(({ comment }) => comment)).toContain('No invoice')
    await bench.expectSoundLedger()
  })

  it('refuse a second vote on the same subject, also within one request', async () => {
    const vote = await transfer()
    expect(await cast(bench.firstApprover, vote, vote)).toEqual(['awaiting_approval', 'already_voted'])
  })

  it('have one effect with an Idempotency-Key', async () => {
    const vote = await transfer()
    const headers = { 'idempotency-key': `votes-${vote.id}` }
    const [first, again] = [
      await send(bench.firstApprover, [vote], headers),
      await send(bench.firstApprover, [vote], headers),
    ]
    expect([first.status, first.body.items[0]!.error]).toEqual([200, null])
    expect(again.body).toEqual(first.body)
    expect(await bench.audited('transfer.approved', vote.id)).toBe(1)
  })

  it('T33 T39 follow the rules of a single vote', async () => {
    const vote = await transfer()
    const stranger = (await createVaultFixture(bench.test, { code: 'rival', adminEmail: 'rival@example.org' })).admin
    const auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors', 'approvers'])
    const member = await addMember(bench.test, bench.vault, 'member@example.org')
    expect(await cast(stranger, vote, { ...vote, vaultCode: 'rival' }, { ...vote, vaultCode: 'nowhere' })).toEqual([
      'not_a_member',
      'not_found',
      'not_found',
    ])
    expect(await cast(auditor, vote)).toEqual(['auditor_reads_only'])
    expect(await cast(bench.owner, vote)).toEqual(['not_an_approver'])
    expect(await cast(member, vote, { ...vote, id: 'nothing' })).toEqual(['not_found', 'not_found'])
    expect(await cast(bench.firstApprover, { ...vote, kind: 'approval_request' })).toEqual(['not_found'])
    const single = await bench.act(bench.owner, vote.id, 'approve', {})
    const { body } = await send(bench.owner, [vote])
    const { requestId: _, ...expected } = single.body
    expect(body.items[0]!.error).toMatchObject(expected)
  })

  it('are at least one and at most a hundred, each with its hash', async () => {
    const vote = { kind: 'transfer', id: 'x', payloadHash: '0'.repeat(64) }
    const statusOf = async (votes: object[]) => (await send(bench.owner, votes as Vote[])).status
    expect(await statusOf([])).toBe(400)
    expect(await statusOf(Array.from({ length: 101 }, () => vote))).toBe(400)
    expect(await statusOf([{ kind: 'transfer', id: 'x' }])).toBe(400)
    expect(await statusOf([{ ...vote, decision: 'abstain' }])).toBe(400)
    expect((await bench.test.anonymous.post('/inbox/votes', { votes: [] })).status).toBe(401)
  })
})
