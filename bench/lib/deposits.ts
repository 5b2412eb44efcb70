import { performance } from 'node:perf_hooks'
import { loadClosed, toRequest } from './http-load.ts'
import { measureRounds } from './rounds.ts'
import type { Run } from './run.ts'
import { type Address, createEvents, type EventBody, toArrival, toWebhook } from './world.ts'

/**
 * Measures deposits by HTTP up to their commit, compared with a route that does nothing and with the same batches
 * without HTTP.
 */
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
    if (connections === 32) record.expect('depositsOf32', share)
    if (connections !== 256) continue
    record.expect('depositsOf256', share)
    record.expect('deposits', http.median)
  }
}

/**
 * Compares groups of addresses under the same conditions: one vault with 64, and one address with 10,000. As a control,
 * a group is compared with itself.
 */
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
  record.expect('vaultOf64', vaults)
  const hot = await pair('one address against 10,000', world.hot, world.spread)
  record.expect('hotAddress', hot)
}

/**
 * Measures deposits while one event in ten is malformed, a duplicate or for a disabled token. The other events must not
 * be affected.
 */
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
      // The load takes requests from the end, so that a duplicate comes after its original.
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
      return Object.values(result.perSecond).reduce((sum, rate) => sum + rate, 0)
    },
  })
  record.add('answers per second, good events only', '/s', sides.clean)
  record.add('answers per second, one event in ten bad', '/s', sides.dirty)
  record.expect('badInput', sides.dirty.median / sides.clean.median)
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

export async function bareDeposits(run: Run, callers: number, addresses = run.world.spread): Promise<number> {
  const next = createEvents(run.world, addresses)
  const ready = Array.from({ length: Math.min(callers * 1_000, 2 * ratePrepared) * run.seconds }, () =>
    toArrival(next()),
  )
  const endsAt = performance.now() + run.seconds * 1000
  let [inTime, total] = [0, 0]
  const call = async () => {
    while (performance.now() < endsAt) {
      await run.world.receive(ready.pop() ?? toArrival(next()))
      total += 1
      if (performance.now() <= endsAt) inTime += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  run.acknowledged += total
  return inTime / run.seconds
}
