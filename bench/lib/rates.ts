import { setTimeout as sleep } from 'node:timers/promises'
import { fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import { type LoadResult, loadOpen, percentile } from './http-load.ts'
import type { Run } from './run.ts'
import { inTurn, orderRequests, recipient } from './transfers.ts'
import { createEvents, toWebhook } from './world.ts'

/** A measurement at a fixed rate takes five times the duration of the others, because a 99th percentile needs answers. */
const secondsFactor = 5
/** The number of addresses that the treasurer pays from. */
const sourcesOfTreasurer = 20

/**
 * Measures latency at fixed rates: orders of one person under a velocity limit while transfers are delivered, then
 * orders and deposits alone. Also measures the time of an order from its last vote to the wallet service and from its
 * request to the blocks.
 */
export async function measureRates(run: Run): Promise<void> {
  const { record } = run
  await confirmAtOnce(run, () =>
    underVelocityLimit(run, async () => {
      const sources = run.world.funded.slice(0, sourcesOfTreasurer)
      const orders = await ordersAt(run, 50, orderRequests(run, '1', sources))
      const p99 = addLatencies(run, '50 orders a second of one treasurer, velocity limit, delivery', orders)
      record.expect('treasurerP99', p99)
      await untilDelivered(run.stack)
    }),
  )
  const p99 = addLatencies(run, '100 orders a second', await ordersAt(run, 100, orderRequests(run, '1')))
  record.expect('orderP99', p99)
  if (run.operations >= 10_000_000) record.expect('fullHouseP99', p99)
  addLatencies(run, '1,000 deposits a second', await depositsAt(run, 1_000))
  await confirmAtOnce(run, () => measureWay(run))
}

/** @returns the 99th percentile */
function addLatencies({ record }: Run, name: string, { latencies }: LoadResult): number {
  record.add(`${name}: median`, 'ms', percentile(latencies, 0.5))
  record.add('  95th percentile', 'ms', percentile(latencies, 0.95))
  return record.add('  99th percentile', 'ms', percentile(latencies, 0.99))
}

async function ordersAt(run: Run, arrivalsPerSecond: number, next: () => Buffer): Promise<LoadResult> {
  return assertAll(201, await loadOpen({ ...loadOf(run), connections: 256, arrivalsPerSecond, next }))
}

async function depositsAt(run: Run, arrivalsPerSecond: number): Promise<LoadResult> {
  const event = createEvents(run.world, run.world.spread)
  const ready = Array.from({ length: arrivalsPerSecond * loadOf(run).seconds }, () => toWebhook(event()))
  const next = () => ready.pop() ?? toWebhook(event())
  const result = assertAll(200, await loadOpen({ ...loadOf(run), connections: 256, arrivalsPerSecond, next }))
  run.acknowledged += result.answers[200]!
  return result
}

const loadOf = (run: Run) => ({ ...run.load, seconds: run.seconds * secondsFactor })

/** Throws unless every request was answered with `status`. A latency says nothing about refused or unsent requests. */
function assertAll(status: number, result: LoadResult): LoadResult {
  const { answers, unsent, broken } = result
  if (Object.keys(answers).join() !== `${status}` || unsent + broken > 0)
    throw new Error(`Answers were ${JSON.stringify(answers)}, ${unsent} requests were not sent, ${broken} broke`)
  return result
}

/**
 * Runs `work` with a wallet service that broadcasts and confirms every transfer at once, so that every transfer is
 * delivered to its end.
 */
async function confirmAtOnce({ world: { wallet } }: Run, work: () => Promise<void>): Promise<void> {
  wallet.mutateStatus = (id, status) => ({
    ...status,
    status: 'confirmed',
    txHash: fakeTxHash(id),
    fee: '0',
    feePaidBy: status.fromAddress,
    confirmations: 12,
    blockTime: new Date().toISOString(),
  })
  await work().finally(() => {
    wallet.mutateStatus = null
  })
}

/** Runs `work` under a daily limit on all orders of the treasurer. The load does not reach the limit. */
async function underVelocityLimit({ world }: Run, work: () => Promise<void>): Promise<void> {
  const { vault, admin, call } = world
  const groups = (await call(admin, 'GET', `/vaults/${vault.code}/policy-groups`)) as {
    items: { id: string; code: string }[]
  }
  const treasury = groups.items.find(({ code }) => code === 'treasury')!
  const limit = { op: 'gt', value: '1000000000', windowSeconds: 86_400, per: 'initiator' }
  const { id } = (await call(admin, 'POST', `/policy-groups/${treasury.id}/policies`, {
    code: 'velocity',
    name: 'velocity',
    actionType: 'transfer',
    effect: 'block',
    rules: [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value: limit }] }],
  })) as { id: string }
  await work().finally(() => call(admin, 'DELETE', `/policies/${id}`))
}

/** Measures orders with votes, one after the other, on a service that is otherwise idle. */
async function measureWay({ world, stack, record, seconds }: Run): Promise<void> {
  await untilDelivered(stack)
  const [toWallet, toBlocks]: [number[], number[]] = [[], []]
  const source = inTurn(world.funded)
  for (let i = 0; i < seconds * 5; i += 1) {
    const body = { fromAddressId: source().id, toAddress: recipient, token: 'USDT', amount: '20000' }
    const path = `/vaults/${world.vault.code}/transfers`
    const orderedAt = performance.now()
    const { id } = (await world.call(world.initiator, 'POST', path, body)) as { id: string }
    for (const approver of world.approvers) await world.call(approver, 'POST', `${path}/${id}/approve`, {})
    const votedAt = performance.now()
    while (world.wallet.broadcastCount(id) === 0) await sleep(2)
    toWallet.push(performance.now() - votedAt)
    while (!(await isConfirmed(stack, id))) await sleep(5)
    toBlocks.push(performance.now() - orderedAt)
  }
  const sorted = (values: number[]) => Float64Array.from(values).sort()
  const [vote, order] = [sorted(toWallet), sorted(toBlocks)]
  record.add('last vote to the wallet service: median', 'ms', percentile(vote, 0.5))
  record.expect('voteToBroadcast', record.add('  95th percentile', 'ms', percentile(vote, 0.95)))
  record.add('order to mined, three votes, mined at once: median', 'ms', percentile(order, 0.5))
  record.add('  95th percentile', 'ms', percentile(order, 0.95))
}

async function isConfirmed({ sql }: Run['stack'], id: string): Promise<boolean> {
  const [row] = await sql<{ status: string }>('select status from operations where id = $1', [id])
  return row?.status === 'confirmed'
}

async function untilDelivered({ sql }: Run['stack']): Promise<void> {
  for (;;) {
    const open = await sql(`select from deliveries where queue in ('hand-over', 'follow') limit 1`)
    if (open.length === 0) return
    await sleep(200)
  }
}
