import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { deposits } from './deposits.ts'
import { loadOpen, percentile } from './http-load.ts'
import { toSeries } from './rounds.ts'
import type { Run } from './run.ts'
import { startNode } from './stack.ts'
import { createEvents, type EventBody, toWebhook } from './world.ts'

const factor = 5
/** Fewer than a node keeps open in total (2,000) and per client address (1,000), so that no connection may break. */
const connections = 1_900
const senders = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']

/**
 * Sends five times as many requests as can be served. Some requests are served, others get a 503 and are sent again,
 * and the rest finds no free connection. The load runs once from several addresses, and once through a proxy, whose
 * connections all come from one address. The queue of events of a node (4,096) is longer than its number of
 * connections, so that 503 is rare while each connection carries one request at a time.
 */
export async function measureOverload(run: Run, seconds: number): Promise<void> {
  const { record, world, stack } = run
  const peaks: number[] = []
  for (let round = 0; round < run.rounds; round += 1) peaks.push(await deposits(run, world.spread, 256))
  const peak = record.add('peak before the overload', '/s', toSeries(peaks))
  const direct = { port: stack.port, from: senders, headers: {} }
  record.expect('overload', await overload(run, { name: 'several addresses', ...direct, peak, seconds }))
  await throughProxy(run, async (port) => {
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    record.expect('overload', await overload(run, { name: 'a proxy', port, headers, peak, seconds }), 'through a proxy')
  })
}

type Overload = {
  name: string
  port: number
  from?: string[]
  headers: Record<string, string>
  peak: number
  seconds: number
}

/** @returns the served rate divided by the peak rate */
async function overload(run: Run, { name, port, from, headers, peak, seconds }: Overload): Promise<number> {
  const { record, world } = run
  const stock = createStock(createEvents(world, world.spread), headers)
  const result = await loadOpen({
    port,
    from,
    seconds,
    connections,
    arrivalsPerSecond: peak * factor,
    next: stock.take,
    onAnswer: (status, _text, request) => {
      if (status === 200) run.acknowledged += 1
      else stock.putBack(request)
    },
  })
  const served = result.perSecond[200] ?? 0
  record.add(`overload from ${name}, ${factor} times the peak for ${seconds} s: served`, '/s', served)
  record.add('  refused with 503', '/s', result.perSecond[503] ?? 0)
  record.add(`  found no free connection of ${connections}`, '/s', result.unsent / seconds)
  record.add('  median time to an answer', 'ms', percentile(result.latencies, 0.5))
  record.add('  99th percentile', 'ms', percentile(result.latencies, 0.99))
  const others = Object.keys(result.answers).filter((status) => !['200', '503'].includes(status))
  if (others.length > 0 || result.broken > 0)
    throw new Error(`Under overload ${result.broken} connections broke, answers were ${JSON.stringify(result.answers)}`)
  return record.add('  of the peak', '', served / peak)
}

/** Runs `work` against another node on the same database, which trusts the proxy about the sender. */
async function throughProxy({ stack }: Run, work: (port: number) => Promise<void>): Promise<void> {
  const node = await startNode({ ...stack.settings, TRUST_PROXY: '1' })
  const proxy = fork(fileURLToPath(new URL('proxy.js', import.meta.url)), [String(node.port)], { execArgv: [] })
  try {
    const [port] = (await once(proxy, 'message')) as [number]
    await work(port)
  } finally {
    const exited = once(proxy, 'exit')
    proxy.disconnect()
    await exited
    await node.stop()
  }
}

/** Creates a stock of signed events, built in advance. A refused event is sent again, as wallet services do. */
function createStock(next: () => EventBody, headers: Record<string, string>) {
  const ready = Array.from({ length: 2_000 }, () => toWebhook(next(), headers))
  return { take: () => ready.pop() ?? toWebhook(next(), headers), putBack: (request: Buffer) => ready.push(request) }
}
