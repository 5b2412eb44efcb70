import { newId } from '../../server/src/lib/ids.ts'
import { deliverDueTransfers } from '../../server/src/modules/money/delivery/deliver.ts'
import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import { type LoadResult, loadClosed, toRequest } from './http-load.ts'
import { measureRounds, toSeries } from './rounds.ts'
import type { Run } from './run.ts'
import { openServiceDeps } from './stack.ts'
import type { Address } from './world.ts'

export const connections = 32
export const recipient = fakeAddress('a supplier of the bench')

/**
 * Measures requests for transfers, with three layers of policies, an Idempotency-Key and an audit record, compared with
 * a bare posting of the same reservation through the same server.
 */
export async function measureTransfers(run: Run): Promise<void> {
  const { record, rounds } = run
  const sides = await measureRounds(rounds, {
    small: () => orderTransfers(run, '1'),
    large: () => orderTransfers(run, '20000'),
    bare: () => postBare(run),
  })
  record.add(`transfers created that need no vote, ${connections} connections`, '/s', sides.small)
  record.add(`  that need three votes of two groups, ${connections} connections`, '/s', sides.large)
  record.add(`  bare posting, ${connections} connections`, '/s', sides.bare)
  record.expect(
    'votedOrders',
    record.add('  with votes, of the bare posting', '', sides.large.median / sides.bare.median),
  )
  record.expect(
    'plainOrders',
    record.add('  without votes, of the bare posting', '', sides.small.median / sides.bare.median),
  )
}

export async function measureVotes(run: Run): Promise<void> {
  const votesPerSecond: number[] = []
  for (let round = 0; round < run.rounds; round += 1) votesPerSecond.push(...(await castVotes(run)))
  run.record.add(`votes, ${connections} connections`, '/s', toSeries(votesPerSecond))
}

/**
 * Casts three votes on every transfer of one load. The last vote queues the transfer for delivery.
 * @returns votes per second, for the first, second and third vote
 */
export async function castVotes(run: Run): Promise<number[]> {
  const { world } = run
  const ids: string[] = []
  const orders = orderRequests(run, '20000')
  await loadClosed({ ...run.load, connections, next: orders, onAnswer: (_status, text) => ids.push(idIn(text)) })
  const votesPerSecond: number[] = []
  for (const approver of world.approvers) {
    const votes = ids.map((id) =>
      toRequest('POST', `/api/v1/vaults/${world.vault.code}/transfers/${id}/approve`, bearer(approver), '{}'),
    )
    votesPerSecond.push(await sendAll(run, votes, 200))
  }
  return votesPerSecond
}

/** Runs transfers from their request to their settlement, with a wallet service that confirms at once. */
export async function settleTransfers(run: Run, count: number): Promise<void> {
  const { stack, world } = run
  const { deps, close } = await openServiceDeps(stack)
  world.wallet.mutateStatus = (id, status) => ({
    ...status,
    status: 'confirmed',
    txHash: fakeTxHash(id),
    fee: '0',
    feePaidBy: status.fromAddress,
    confirmations: 12,
    blockTime: new Date().toISOString(),
  })
  const order = orderRequests(run, '1')
  await sendAll(run, Array.from({ length: count }, order), 201)
  try {
    for (;;) {
      const [open] = await stack.sql<{ count: number }>(
        `select count(*)::int from deliveries where queue in ('hand-over', 'follow')`,
      )
      if (open!.count === 0) return
      if ((await deliverDueTransfers(deps)) === 0) await new Promise((resolve) => setTimeout(resolve, 100))
    }
  } finally {
    world.wallet.mutateStatus = null
    await close()
  }
}

export async function orderTransfers(run: Run, amount: string): Promise<number> {
  return created(await loadClosed({ ...run.load, connections, next: orderRequests(run, amount) }), 201)
}

export async function postBare(run: Run): Promise<number> {
  const next = inTurn(run.world.funded)
  const { world } = run
  const path = `/bench/vaults/${world.vault.code}/postings`
  const request = () =>
    toRequest('POST', path, bearer(world.initiator), JSON.stringify({ addressId: next().id, tokenId: world.usdt.id }))
  return created(await loadClosed({ ...run.load, connections, next: request }), 200)
}

export function orderRequests({ world }: Run, amount: string, sources: Address[] = world.funded): () => Buffer {
  const next = inTurn(sources)
  return () =>
    toRequest(
      'POST',
      `/api/v1/vaults/${world.vault.code}/transfers`,
      { ...bearer(world.initiator), 'idempotency-key': newId() },
      JSON.stringify({ fromAddressId: next().id, toAddress: recipient, token: 'USDT', amount }),
    )
}

/** Sends each request once, one per connection at a time. Every answer must have `status`. */
export async function sendAll(run: Run, requests: Buffer[], status: number): Promise<number> {
  const waiting = requests.toReversed()
  const load = { ...run.load, seconds: 600, connections, next: () => waiting.pop() ?? null }
  return created(await loadClosed(load), status)
}

function created({ perSecond, answers }: LoadResult, status: number): number {
  if (Object.keys(answers).join() !== `${status}`) throw new Error(`Answers were ${JSON.stringify(answers)}`)
  return perSecond[status] ?? 0
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export function inTurn<Item>(items: Item[]): () => Item {
  let turn = 0
  return () => items[turn++ % items.length]!
}

function idIn(text: string): string {
  return (JSON.parse(text) as { id: string }).id
}
