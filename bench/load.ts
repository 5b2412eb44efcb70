import { loadClosed, toRequest } from './lib/http-load.ts'
import { startStack } from './lib/stack.ts'
import { createEvents, createWorld, toArrival, toWebhook } from './lib/world.ts'

const stack = await startStack({ nodeArguments: process.argv.slice(2) })
try {
  console.time('world')
  const world = await createWorld(stack)
  console.timeEnd('world')
  const cpu = async () =>
    Number(
      (await import('node:fs'))
        .readFileSync(`/proc/${stack.nodePid}/stat`, 'utf8')
        .split(' ')
        .slice(13, 15)
        .reduce((a, b) => a + Number(b), 0),
    )
  for (const connections of [1, 32, 64, 256]) {
    for (const [name, pool] of Object.entries({ hot: world.hot, spread: world.spread, overVaults: world.overVaults })) {
      if (connections < 256 && name !== 'spread') continue
      const seconds = 3
      const next = createEvents(world, pool)
      const ready = Array.from({ length: 10000 * seconds }, () => toWebhook(next()))
      let i = 0
      const c0 = await cpu()
      const m0 = process.cpuUsage()
      const result = await loadClosed({
        port: stack.port,
        connections,
        seconds,
        next: () => ready[i++] ?? toWebhook(next()),
      })
      const m1 = process.cpuUsage(m0)
      console.log(
        name,
        connections,
        result.perSecond,
        result.answers,
        'p50',
        result.latencies[result.latencies.length >> 1],
        'server cpu s',
        ((await cpu()) - c0) / 100,
        'load cpu',
        (m1.user + m1.system) / 1e6,
      )
    }
    const noop = toRequest('GET', '/healthz', {}, null)
    const c0 = await cpu()
    const m0 = process.cpuUsage()
    const r = await loadClosed({ port: stack.port, connections, seconds: 3, next: () => noop })
    const m1 = process.cpuUsage(m0)
    console.log(
      'noop',
      connections,
      r.perSecond,
      'server cpu s',
      ((await cpu()) - c0) / 100,
      'load cpu',
      (m1.user + m1.system) / 1e6,
    )
    const next = createEvents(world, world.spread)
    const arrivals = Array.from({ length: 40000 }, () => toArrival(next()))
    let n = 0
    const end = Date.now() + 3000
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (Date.now() < end) {
          await world.receive(arrivals[n++]!)
        }
      }),
    )
    console.log('bare', connections, n / 3)
  }
  console.log(
    await stack.sql('select sum(n_tup_upd) u, sum(n_tup_hot_upd) h from pg_stat_user_tables where relname = $1', [
      'ledger_accounts',
    ]),
  )
  await world.close()
} finally {
  await stack.stop()
}
