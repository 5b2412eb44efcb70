import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { newId } from '../server/src/lib/ids.ts'
import { fakeAddress } from '../server/src/testing/fake-wallet.ts'
import { type Flight, startFlight } from './lib/flight.ts'
import { loadClosed, percentile, toRequest } from './lib/http-load.ts'
import { cpuOfTree } from './lib/processes.ts'
import type { BenchRecord } from './lib/record.ts'
import { runOnStack } from './lib/run-bench.ts'
import type { Stack } from './lib/stack.ts'
import { bearer, inTurn } from './lib/transfers.ts'

/**
 * Measures the cost of transfers in flight, with the reference wallet on a chain that stands still: first without
 * transfers, then with each number of `--transfers`. Measures the time of further orders to the wallet and to the
 * chain, the CPU time while nothing happens, and the time until all transfers are known as mined after the blocks that take them. Goals
 * are for 10,000 transfers. Requires Linux, which reports the CPU time of processes.
 */
const { values: options } = parseArgs({
  options: {
    transfers: { type: 'string', default: '100,1000,10000' },
    addresses: { type: 'string', default: '50' },
    /** Duration of the further orders, and of the rest in which CPU time is measured. */
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '10' },
  },
})
const seconds = Number(options.seconds)
const goalCount = 10_000
/** The largest number of rows of a payout. */
const rowsMax = 1_000
const recipient = fakeAddress('a supplier of the bench')
const orderOf = (fromAddressId: string) => ({ fromAddressId, toAddress: recipient, token: 'ETH', amount: '0.000001' })

type Bench = { record: BenchRecord; stack: Stack; flight: Flight }

await runOnStack(async ({ record, stack }) => {
  const flight = await startFlight(stack, Number(options.addresses))
  try {
    const bench: Bench = { record, stack, flight }
    const idle = await measureRest(bench, 'nothing in flight')
    record.expect('idleCpu', idle.node + idle.wallet)
    record.expect('idleStatements', idle.transactions)
    const alone = await measureOrders(bench, 'nothing in flight')
    await land(bench, 'the first orders')
    await measurePayout(bench)
    await land(bench, 'a payout')
    for (const count of options.transfers.split(',').map(Number)) {
      const name = `${count.toLocaleString('en-US')} in flight`
      const logBefore = await logPosition(stack)
      const callsEach = await lift(bench, name, count)
      if (count >= 1_000) record.expect('callsEach', callsEach, name)
      const rest = await measureRest(bench, name)
      const more = await measureOrders(bench, name)
      const { known, calls } = await land(bench, name)
      const log = (await logPosition(stack)) - logBefore
      const settled = count + more.count
      const logEach = record.add(
        `${name}: bytes of log per settled transfer, with those of the wallet`,
        'B',
        log / settled,
      )
      if (count < goalCount) continue
      record.expect('flightLog', logEach)
      record.expect('flightVote', more.toWallet)
      record.expect('flightBroadcast', more.toChain)
      record.expect('flightOfNone', more.toChain / alone.toChain)
      record.expect('flightKnown', known)
      record.expect('flightCpu', rest.all - idle.all)
      record.expect('flightCalls', calls)
    }
  } finally {
    await flight.close()
  }
})

/** Measures a payout. A policy allows its rows, so the answer to the order takes the place of the last vote. */
async function measurePayout({ record, stack, flight }: Bench): Promise<void> {
  flight.proxy.forget()
  const startedAt = performance.now()
  await orderPayout(flight, Array<string>(rowsMax).fill(flight.addresses[0]!.id))
  const orderedAt = performance.now()
  record.add('payout of 1,000 rows from one address: ordered in', 's', (orderedAt - startedAt) / 1_000)
  await until(async () => (await countOf(stack, `wallet.transfers where status = 'broadcast'`)) >= rowsMax)
  const sent = record.add('  all broadcast after', 's', (performance.now() - orderedAt) / 1_000)
  record.expect('payout', sent)
  const calls = record.add('  calls to the chain’s node per row', '', sumOf(flight.proxy.calls) / rowsMax)
  record.expect('callsEach', calls, 'payout of one address')
}

async function orderOneByOne(stack: Stack, flight: Flight, count: number): Promise<void> {
  const source = inTurn(flight.addresses)
  const requests = Array.from({ length: count }, () => requestOf(flight, source().id))
  const load = { port: stack.port, connections: 32, seconds: 3_600, next: () => requests.pop() ?? null }
  const { answers } = await loadClosed(load)
  if (Object.keys(answers).join() !== '201') throw new Error(`Orders were answered ${JSON.stringify(answers)}`)
}

/** Orders the transfers as payouts, because thousands of single orders would take longer than the measurement. */
async function orderInPayouts(flight: Flight, count: number): Promise<void> {
  const source = inTurn(flight.addresses)
  for (let ordered = 0; ordered < count; ordered += rowsMax)
    await orderPayout(
      flight,
      Array.from({ length: Math.min(rowsMax, count - ordered) }, () => source().id),
    )
}

async function orderPayout({ call, initiator, vault }: Flight, sources: string[]): Promise<void> {
  const rows = sources.map((id) => ({ externalId: newId(), ...orderOf(id) }))
  await call(initiator, 'POST', `/vaults/${vault}/payouts`, { rows })
}

/** Orders `count` transfers, and waits until all are broadcast. Returns the calls to the chain's node per transfer. */
async function lift({ record, stack, flight }: Bench, name: string, count: number): Promise<number> {
  flight.proxy.forget()
  const startedAt = performance.now()
  await (count > rowsMax ? orderInPayouts(flight, count) : orderOneByOne(stack, flight, count))
  record.add(`${name}: ordered in`, 's', (performance.now() - startedAt) / 1_000)
  await until(async () => (await countOf(stack, `wallet.transfers where status = 'broadcast'`)) >= count)
  record.add('  all broadcast after', 's', (performance.now() - startedAt) / 1_000)
  return record.add('  calls to the chain’s node per transfer', '', sumOf(flight.proxy.calls) / count)
}

function requestOf({ vault, initiator }: Flight, fromAddressId: string): Buffer {
  const headers = { ...bearer(initiator), 'idempotency-key': newId() }
  const body = JSON.stringify(orderOf(fromAddressId))
  return toRequest('POST', `/api/v1/vaults/${vault}/transfers`, headers, body)
}

/** Measures CPU time and calls while nothing is ordered and no block comes. */
async function measureRest({ record, stack, flight }: Bench, name: string) {
  // Waits until processes that were started have ended, and connections have reported their last transactions, which
  // PostgreSQL does within ten seconds.
  await sleep(12_000)
  const before = Object.entries(flight.pids).map(([process, pid]) => ({ process, pid, cpu: cpuOfTree(pid) }))
  const transactions = await transactionsOf(stack)
  flight.proxy.forget()
  await sleep(seconds * 1_000)
  const shares = before.map(({ process, pid, cpu }) => [process, ((cpuOfTree(pid) - cpu) / seconds) * 100] as const)
  const allProcesses = shares.reduce((sum, [, share]) => sum + share, 0)
  record.add(`${name}: CPU while the chain stands still, all processes`, '%', allProcesses)
  for (const [process, share] of shares) record.add(`  ${process}`, '%', share)
  const statements = ((await transactionsOf(stack)) - transactions) / seconds
  record.add('  transactions of PostgreSQL', '/s', statements)
  record.add('  calls to the chain’s node', '/s', sumOf(flight.proxy.calls) / seconds)
  return {
    all: allProcesses,
    transactions: statements,
    ...(Object.fromEntries(shares) as Record<keyof Flight['pids'], number>),
  }
}

/**
 * Orders at a fixed rate. Returns the time to the wallet service and the time to the chain's node, as 95th percentiles
 * in seconds.
 */
async function measureOrders({ record, stack, flight }: Bench, name: string) {
  const source = inTurn(flight.addresses)
  const orderedAt = new Map<string, number>()
  const underWay: Promise<void>[] = []
  const count = seconds * Number(options.rate)
  for (let i = 0; i < count; i += 1) {
    const order = flight.call(flight.initiator, 'POST', `/vaults/${flight.vault}/transfers`, orderOf(source().id))
    underWay.push(
      order.then((made) => {
        orderedAt.set((made as { id: string }).id, Date.now())
      }),
    )
    await sleep(1_000 / Number(options.rate))
  }
  await Promise.all(underWay)
  const ids = [...orderedAt.keys()]
  const read = () =>
    stack.sql<{ id: string; tx_hash: string; created_at: Date }>(
      'select id, tx_hash, created_at from wallet.transfers where id = any($1) and tx_hash is not null',
      [ids],
    )
  let rows = await read()
  await until(async () => {
    rows = await read()
    return rows.length === count && rows.every(({ tx_hash }) => flight.proxy.sentAt.has(tx_hash))
  })
  // The wallet service may receive an order before the answer arrives here, so the difference may be negative.
  const secondsTo = (at: (row: (typeof rows)[number]) => number) =>
    Float64Array.from(rows, (row) => Math.max(0, at(row) - orderedAt.get(row.id)!) / 1_000).sort()
  const toWallet = secondsTo(({ created_at }) => created_at.getTime())
  const toChain = secondsTo(({ tx_hash }) => flight.proxy.sentAt.get(tx_hash)!)
  record.add(`${name}: order to the wallet service, median`, 's', percentile(toWallet, 0.5))
  const wallet95 = record.add('  95th percentile', 's', percentile(toWallet, 0.95))
  record.add(`${name}: order to broadcast, median`, 's', percentile(toChain, 0.5))
  const chain95 = record.add('  95th percentile', 's', percentile(toChain, 0.95))
  return { toWallet: wallet95, toChain: chain95, count }
}

/**
 * Mines blocks with all transfers. Returns the seconds until the service knows the last, and the calls for an empty
 * block.
 */
async function land({ record, stack, flight }: Bench, name: string): Promise<{ known: number; calls: number }> {
  flight.proxy.forget()
  await sleep(5_000)
  const still = sumOf(flight.proxy.calls)
  flight.proxy.forget()
  await flight.mineEmptyBlock()
  await sleep(5_000)
  const calls = Math.max(0, sumOf(flight.proxy.calls) - still)
  record.add(`${name}: calls to the chain’s node for an empty block`, '', calls)
  const startedAt = performance.now()
  await flight.mineAll()
  const since = () => (performance.now() - startedAt) / 1_000
  await until(async () => (await countOf(stack, `wallet.transfers where status <> 'confirmed'`)) === 0)
  const atWallet = record.add(`${name}: mined to confirmed at the wallet service, the last`, 's', since())
  await until(async () => (await countOf(stack, `operations where status <> 'confirmed'`)) === 0)
  const known = record.add('  to known to the service, the last', 's', since())
  record.add('  of it after the wallet service', 's', known - atWallet)
  return { known, calls }
}

async function countOf({ sql }: Stack, from: string): Promise<number> {
  const [row] = await sql<{ count: number }>(`select count(*)::int from ${from}`)
  return row!.count
}

async function transactionsOf({ sql }: Stack): Promise<number> {
  const [row] = await sql<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(row!.count)
}

async function logPosition({ sql }: Stack): Promise<number> {
  const [row] = await sql<{ bytes: string }>(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`)
  return Number(row!.bytes)
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 3_600_000
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error('What was waited for did not happen within an hour')
    await sleep(50)
  }
}

function sumOf(counts: Record<string, number>): number {
  return total(Object.values(counts))
}

function total(numbers: (number | string)[]): number {
  return numbers.reduce<number>((sum, number) => sum + Number(number), 0)
}
