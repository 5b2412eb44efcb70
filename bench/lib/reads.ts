import { loadClosed, percentile, toRequest } from './http-load.ts'
import { toSeries } from './rounds.ts'
import type { Run } from './run.ts'

const connections = 32

/** Measures pages of the feed and of the balances as an administrator sees them: over the whole vault. */
export async function measureReads(run: Run): Promise<void> {
  const { record, world } = run
  const [operations] = await run.stack.sql<{ count: string }>('select count(*) from operations where vault_id = $1', [
    world.vault.id,
  ])
  record.add('operations in the vault', '', Number(operations!.count))
  const pages = {
    'history, first page of 50': '/history?limit=50',
    'balances in total': '/balances?summary=true',
    'balances of one address': `/balances?addressId=${world.hot[0]!.id}`,
    'statement, first page of 50': `/ledger/entries?addressId=${world.hot[0]!.id}&tokenId=${world.usdt.id}&limit=50`,
    'balance at a time': `/ledger/balance?addressId=${world.hot[0]!.id}&tokenId=${world.usdt.id}`,
  }
  for (const [name, path] of Object.entries(pages)) {
    const headers = { authorization: `Bearer ${world.admin}` }
    const request = toRequest('GET', `/api/v1/vaults/${world.vault.code}${path}`, headers, null)
    const [rates, middles, slowest]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < run.rounds; round += 1) {
      const { perSecond, latencies, answers } = await loadClosed({ ...run.load, connections, next: () => request })
      if (Object.keys(answers).join() !== '200') throw new Error(`${path} was answered ${JSON.stringify(answers)}`)
      rates.push(perSecond[200] ?? 0)
      middles.push(percentile(latencies, 0.5))
      slowest.push(percentile(latencies, 0.99))
    }
    record.add(`${name}, ${connections} connections`, '/s', toSeries(rates))
    record.add('  median time', 'ms', toSeries(middles))
    record.add('  99th percentile', 'ms', toSeries(slowest))
  }
}
