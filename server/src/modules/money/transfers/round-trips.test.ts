import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { allowAll } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { deliverDueTransfers } from '../delivery/deliver.ts'
import { applyStatus } from '../delivery/settle.ts'

/**
 * The statements that a request sends to PostgreSQL, with `begin` and `commit`. Each further statement costs every payment a
 * round trip: a feature adds its columns and rows to these statements.
 */
describe('the round trips of a request', () => {
  let bench: TransferBench
  let address: Address
  const sent: string[] = []
  const unprepared = new Set<string>()
  const query = pg.Client.prototype.query as (...parts: unknown[]) => unknown

  beforeAll(async () => {
    bench = await createTransferBench()
    await allowAll(bench.vault, 'transfer')
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    // The fee estimate of the wallet service is refreshed from time to time.
    await order()
    pg.Client.prototype.query = function (this: pg.Client, ...parts: unknown[]) {
      const [first] = parts as [string | { text: string; name?: string }]
      const { text, name } = typeof first === 'string' ? { text: first } : first
      sent.push(text)
      if (name === undefined && !isBracket(text)) unprepared.add(text.trim().slice(0, 120))
      return query.apply(this, parts)
    } as typeof pg.Client.prototype.query
  })

  afterAll(async () => {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query
    await bench.close()
  })

  /** Returns the number of statements of one request. The signal to other nodes leaves after the answer and is not counted. */
  async function countOf<Answer>(request: () => Promise<Answer>): Promise<{ count: number; answer: Answer }> {
    sent.length = 0
    const answer = await request()
    return { count: sent.filter((text) => !text.includes('pg_notify')).length, answer }
  }

  /** A statement that is not planned. */
  const isBracket = (text: string) => /^(begin|commit|start transaction|select pg_notify|set |lock )/.test(text)

  const body = () => ({ fromAddressId: address.id, toAddress: bench.recipient, amount: '1' })
  const order = () => bench.owner.post('/vaults/main-vault/transfers', body())
  const askForVotes = () =>
    bench.policy({
      code: 'two-votes',
      name: 'Two votes',
      actionType: 'transfer',
      effect: 'allow',
      approvalThreshold: 2,
      rules: [],
      approvers: [{ kind: 'group', groupId: bench.approversId }],
    })

  it('are 7 for a plain order: sign-in, fee, and five from begin to commit', async () => {
    const { count, answer } = await countOf(order)
    expect(answer.body.status).toBe('pending')
    expect(count).toBe(7)
  })

  it('are 6 for a preview', async () => {
    const { count, answer } = await countOf(() => bench.owner.post('/vaults/main-vault/transfers/preview', body()))
    expect(answer.status).toBe(200)
    expect(count).toBe(6)
  })

  it('of a simulation read the policies once', async () => {
    const simulation = { actionType: 'transfer', payload: body() }
    const { answer } = await countOf(() => bench.owner.post('/vaults/main-vault/policies/simulate', simulation))
    expect(answer.status).toBe(200)
    expect(sent.filter((text) => text.includes('from policies p'))).toHaveLength(1)
  })

  it('are 8 for an order that waits for votes, 6 for a vote, 8 for the last one and 6 for a cancellation', async () => {
    await askForVotes()
    const placed = await countOf(order)
    expect(placed.answer.body.status).toBe('awaiting_approval')
    expect(placed.count).toBe(8)
    const first = await countOf(() => bench.act(bench.firstApprover, placed.answer.body.id, 'approve'))
    expect(first.answer.body.status).toBe('awaiting_approval')
    expect(first.count).toBe(6)
    const vote = await countOf(() => bench.act(bench.secondApprover, placed.answer.body.id, 'approve'))
    expect(vote.answer.body.status).toBe('pending')
    expect(vote.count).toBe(8)
    const { body: second } = await order()
    const cancelled = await countOf(() => bench.act(bench.owner, second.id, 'cancel'))
    expect(cancelled.answer.body.status).toBe('cancelled')
    expect(cancelled.count).toBe(6)
  })

  it('are 7 for a settlement: two for the hash, and five from begin to commit', async () => {
    const { body: ordered } = await order()
    for (const voter of [bench.firstApprover, bench.secondApprover]) await bench.act(voter, ordered.id, 'approve')
    await bench.deliver()
    const ending = { status: 'confirmed', txHash: fakeTxHash(ordered.id), fee: '21000' } as const
    const status = { ...ending, feePaidBy: null, blockTime: null, failureReason: null }
    const { count } = await countOf(() =>
      applyStatus(bench.test.deps, { vaultId: bench.vault.id, id: ordered.id }, status),
    )
    expect(await bench.read(ordered.id)).toMatchObject({ status: 'confirmed', fee: '21000' })
    expect(count).toBe(7)
  })

  it('are 15 for a hand-over that the wallet service accepts, with a check of both queues', async () => {
    await bench.deliver()
    const { body: ordered } = await order()
    for (const voter of [bench.firstApprover, bench.secondApprover]) await bench.act(voter, ordered.id, 'approve')
    const { count } = await countOf(() => deliverDueTransfers(bench.test.deps))
    expect(await bench.sql(`select phase from transfers where id = '${ordered.id}'`)).toEqual([{ phase: 'submitted' }])
    expect(count).toBe(15)
  })

  it('are as many for the last vote on a payout of two rows as of eight', async () => {
    const votes = (payoutId: string) =>
      [bench.firstApprover, bench.secondApprover].map(
        (voter) => () => voter.post(`/vaults/main-vault/payouts/${payoutId}/approve`, {}),
      )
    const counts: number[] = []
    for (const rowsCount of [2, 8]) {
      const rows = Array.from({ length: rowsCount }, (_, row) => ({ ...body(), externalId: `${rowsCount}-${row}` }))
      const placed = await bench.owner.post('/vaults/main-vault/payouts', { rows })
      expect([placed.status, placed.body.status]).toEqual([201, 'awaiting_approval'])
      const [first, last] = votes(placed.body.id)
      await first!()
      const { count, answer } = await countOf(last!)
      expect(answer.body.status).toBe('approved')
      counts.push(count)
    }
    expect(counts).toEqual([14, 14])
  })

  it('are planned once per connection: each statement of an order, its votes, its hand-over and its settlement is prepared', async () => {
    const { body: ordered } = await order()
    unprepared.clear()
    for (const voter of [bench.firstApprover, bench.secondApprover]) await bench.act(voter, ordered.id, 'approve')
    await order()
    bench.vault.wallet.mutateStatus = (id, status) => ({
      ...status,
      status: 'confirmed',
      txHash: fakeTxHash(id),
      fee: '1',
      feePaidBy: null,
      confirmations: 12,
      blockTime: null,
    })
    await bench.deliver()
    bench.test.clock.advance(60_000)
    await bench.deliver()
    expect(await bench.read(ordered.id)).toMatchObject({ status: 'confirmed' })
    expect([...unprepared]).toEqual([])
  })
})
