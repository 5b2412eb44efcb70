import { besideReports, reportsAtOnce } from './lib/beside-reports.ts'
import { fillVault } from './lib/feed-database.ts'
import { type LoadResult, loadClosed, percentile, toRequest } from './lib/http-load.ts'
import { measureRounds } from './lib/rounds.ts'
import { runOnStack } from './lib/run-bench.ts'

/**
 * The effect of one user's expensive reads on another user. A member reads their balances one after the other: alone,
 * and while an administrator of the same vault keeps many reports over all of its operations running. BENCH_OPERATIONS
 * is the size of the vault.
 */
const operations = Number(process.env.BENCH_OPERATIONS ?? 300_000)
const rounds = 3
const seconds = 10

await runOnStack(async ({ record, stack }) => {
  const { member, administrator } = await fillVault(stack, operations)
  const balances = toRequest('GET', '/api/v1/vaults/main-vault/balances', { authorization: `Bearer ${member}` }, null)
  const range = 'from=2020-01-01T00:00:00.000Z&to=2030-01-01T00:00:00.000Z&groupBy=month'
  const report = toRequest(
    'GET',
    `/api/v1/vaults/main-vault/reports/transaction_activity?${range}`,
    { authorization: `Bearer ${administrator}` },
    null,
  )
  const { port } = stack
  const read = () => loadClosed({ port, connections: 1, seconds, next: () => balances })
  const alone = { medians: [] as number[], p95s: [] as number[] }
  const beside = { medians: [] as number[], p95s: [] as number[] }
  const note = ({ latencies, answers }: LoadResult, to: typeof alone) => {
    if (Object.keys(answers).join() !== '200') throw new Error(`Balances were answered ${JSON.stringify(answers)}`)
    to.medians.push(percentile(latencies, 0.5))
    to.p95s.push(percentile(latencies, 0.95))
    return percentile(latencies, 0.5)
  }
  const reports: Record<number, number> = {}
  const readBesideReports = async () => {
    const { result, answers } = await besideReports({ port, report }, async () => note(await read(), beside))
    for (const [status, count] of Object.entries(answers)) {
      reports[Number(status)] = (reports[Number(status)] ?? 0) + count
    }
    return result
  }
  await read()
  const single = await loadClosed({ port, connections: 1, seconds: 5, next: () => report })
  record.add(`one report over ${operations} operations, alone`, 'ms', percentile(single.latencies, 0.5))
  const { without, during } = await measureRounds(rounds, {
    without: async () => note(await read(), alone),
    during: readBesideReports,
  })
  record.add('balances of a member, median', 'ms', without)
  record.add(`  while another one keeps ${reportsAtOnce} reports under way`, 'ms', during)
  const p95 = (of: typeof alone) => of.p95s.toSorted((a, b) => a - b)[Math.floor(of.p95s.length / 2)]!
  record.add('balances of a member, p95', 'ms', p95(alone))
  record.add(`  while another one keeps ${reportsAtOnce} reports under way`, 'ms', p95(beside))
  console.log(`reports by status: ${JSON.stringify(reports)}`)
  record.expect('fairness', during.median / without.median, 'median')
  record.expect('fairness', p95(beside) / p95(alone), 'p95')
})
