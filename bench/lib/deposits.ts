import { performance } from 'node:perf_hooks'
import { loadClosed, loadOpen, percentile, toRequest } from './http-load.ts'
import { measureRounds, toSeries } from './rounds.ts'
import type { Run } from './run.ts'
import { type Address, createEvents, type EventBody, toArrival, toWebhook } from './world.ts'

/** Deposits by HTTP up to their commit, compared with a route that does nothing and with the same batches without HTTP. */
export async function measureDeposits(run: Run): Promise<void> {
  const { record, world, rounds } = run
  for (const connections of [1, 32, 64, 256]) {
    const sides = await measureRounds(rounds, {
      http: () => deposits(run, world.spread, connections),
      noop: () => noop(run, connections),
      bare: () => bareDeposits(run, connections),
    })
    const [http, noOp, bare] = [sides.http, sides.noop, sides.bare]
    record.add(`deposits, ${connections} connections`, '/s', http)
    record.add(`  no-op route, ${connections} connections`, '/s', noOp)
    record.add(`  the same batches without HTTP, ${connections} callers`, '/s', bare)
    record.add('  of the no-op route', '', http.median / noOp.median)
    const share = record.add('  of the bare batch', '', http.median / bare.median)
    if (connections !== 256) continue
    record.expect('deposits at 256 connections, of the bare batch', share, 'at least', 0.7)
    record.expect('deposits at 256 connections, per second', http.median, 'at least', 5_000)
  }
}

/** Busy addresses compared with addresses under the same conditions: the control compares a side with itself. */
export async function measureHotSpots(run: Run): Promise<void> {
  const { record, world, rounds } = run
  const pair = async (name: string, a: Address[], b: Address[]) => {
    const sides = await measureRounds(rounds, { a: () => deposits(run, a, 256), b: () => deposits(run, b, 256) })
    record.add(`${name}: first`, '/s', sides.a)
    record.add(`${name}: second`, '/s', sides.b)
    return record.add(`${name}: first of second`, '', sides.a.median / sides.b.median)
  }
  await pair('control, the same twice', world.spread, world.spread)
  const vaults = await pair('one vault against 64', world.inOneVault, world.overVaults)
  record.expect('one vault, of 64 vaults', vaults, 'at least', 0.95)
  const hot = await pair('one address against 10,000', world.hot, world.spread)
  record.expect('one hot address, of 10,000', hot, 'at least', 0.9)
}

/** One event in ten is malformed, a duplicate or for a disabled token; the others must not be affected. */
export async function measureBadInput(run: Run): Promise<void> {
  const { record, world, rounds } = run
  const next = createEvents(world, world.spread)
  let sent: EventBody | null = null
  let turn = 0
  const badOrGood = (): { body: EventBody; isGood: boolean } => {
    turn += 1
    if (turn % 10 !== 0) {
      sent = next()
      return { body: sent, isGood: true }
    }
    const { tx } = sent!
    const bad = [{ ...tx, amount: '-1' }, tx, { ...tx, asset: world.disabled.contractAddress }][(turn / 10) % 3]!
    return { body: { kind: 'TOPUP', tx: bad }, isGood: false }
  }
  const sides = await measureRounds(rounds, {
    clean: () => deposits(run, world.spread, 256),
    dirty: async () => {
      const make = () => {
        const { body, isGood } = badOrGood()
        return { bytes: toWebhook(body), isGood }
      }
      // Taken from the end, so that a duplicate comes after its original.
      const ready = Array.from({ length: run.seconds * ratePrepared }, make).reverse()
      let [good, credited] = [0, 0]
      const result = await loadClosed({
        ...run.load,
        connections: 256,
        next: () => {
          const { bytes, isGood } = ready.pop() ?? make()
          if (isGood) good += 1
          return bytes
        },
        onAnswer: (_status, text) => {
          if (text.includes('"credited"')) credited += 1
        },
      })
      if (credited !== good) throw new Error(`${good} good events were sent among bad ones, ${credited} were credited`)
      run.acknowledged += credited
      return Object.values(result.perSecond).reduce((sum, one) => sum + one, 0)
    },
  })
  record.add('answers per second, good events only', '/s', sides.clean)
  record.add('answers per second, one event in ten bad', '/s', sides.dirty)
  const share = sides.dirty.median / sides.clean.median
  record.expect('answers with bad events among them, of those without', share, 'at least', 0.9)
}

/** Five times as many arrivals as can be served: some are served, the others get a 503, are sent again and succeed. */
export async function measureOverload(run: Run, seconds: number): Promise<void> {
  const { record, world } = run
  const peaks: number[] = []
  for (let round = 0; round < run.rounds; round += 1) peaks.push(await deposits(run, world.spread, 256))
  const peak = record.add('peak before the overload', '/s', toSeries(peaks))
  const stock = createStock(createEvents(world, world.spread), 2_000)
  const result = await loadOpen({
    ...run.load,
    seconds,
    connections: 6_000,
    arrivalsPerSecond: peak * 5,
    next: stock.take,
    onAnswer: (status, _text, request) => {
      if (status === 200) run.acknowledged += 1
      else stock.putBack(request)
    },
  })
  const served = record.add(`overload, 5 times the peak for ${seconds} s: served`, '/s', result.perSecond[200] ?? 0)
  const refused = (result.perSecond[503] ?? 0) + (result.perSecond[429] ?? 0)
  record.add('  refused with 503 or 429', '/s', refused)
  record.add('  found no free connection of 6,000', '/s', result.unsent / seconds)
  record.add('  broken connections', '', result.broken)
  record.add('  median time to an answer', 'ms', percentile(result.latencies, 0.5))
  record.add('  99th percentile', 'ms', percentile(result.latencies, 0.99))
  const others = Object.keys(result.answers).filter((status) => !['200', '503', '429'].includes(status))
  if (others.length > 0) throw new Error(`Under overload there were answers ${JSON.stringify(result.answers)}`)
  record.expect('served under overload, of the peak', served / peak, 'at least', 0.8)
}

/** Requests are built before the measurement starts: as many as can be sent in a second. */
const ratePrepared = 10_000

export async function deposits(run: Run, addresses: Address[], connections: number): Promise<number> {
  const next = createEvents(run.world, addresses)
  const prepared = Math.min(connections * 1_000, ratePrepared) * run.seconds
  const ready = Array.from({ length: prepared }, () => toWebhook(next()))
  let credited = 0
  const result = await loadClosed({
    ...run.load,
    connections,
    next: () => ready.pop() ?? toWebhook(next()),
    onAnswer: (status, text) => {
      if (status !== 200 || !text.includes('"credited"')) throw new Error(`A deposit was answered ${status} ${text}`)
      credited += 1
    },
  })
  run.acknowledged += credited
  return result.perSecond[200] ?? 0
}

export async function noop(run: Run, connections: number): Promise<number> {
  const request = toRequest('GET', '/healthz', {}, null)
  const { perSecond } = await loadClosed({ ...run.load, connections, next: () => request })
  return perSecond[200] ?? 0
}

export async function bareDeposits(run: Run, callers: number): Promise<number> {
  const next = createEvents(run.world, run.world.spread)
  const ready = Array.from({ length: Math.min(callers * 1_000, 2 * ratePrepared) * run.seconds }, () =>
    toArrival(next()),
  )
  const endsAt = performance.now() + run.seconds * 1000
  let [inTime, all] = [0, 0]
  const call = async () => {
    while (performance.now() < endsAt) {
      await run.world.receive(ready.pop() ?? toArrival(next()))
      all += 1
      if (performance.now() <= endsAt) inTime += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  run.acknowledged += all
  return inTime / run.seconds
}

/** A stock of signed events, built in advance. A refused one is sent again, as wallet services do. */
function createStock(next: () => EventBody, size: number) {
  const ready = Array.from({ length: size }, () => toWebhook(next()))
  return { take: () => ready.pop() ?? toWebhook(next()), putBack: (request: Buffer) => ready.push(request) }
}
