import { parseArgs } from 'node:util'
import { openDatabase } from '../server/src/db/client.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { measureBadInput, measureDeposits, measureHotSpots } from './lib/deposits.ts'
import { fillHouse } from './lib/full-house.ts'
import { measureOverload } from './lib/overload.ts'
import { measureRates } from './lib/rates.ts'
import { measureReads } from './lib/reads.ts'
import type { Run } from './lib/run.ts'
import { runOnStack } from './lib/run-bench.ts'
import { measureSignedVotes } from './lib/signed-votes.ts'
import { measureStatement } from './lib/statement.ts'
import { measureHeapOnlyUpdates, measureStorage } from './lib/storage.ts'
import { measureTransfers, measureVotes } from './lib/transfers.ts'
import { createWorld, fullSize } from './lib/world.ts'

/**
 * Measures the ledger under load, on its own PostgreSQL and server: `npm run bench`. `--operations` sets the number of
 * operations that the first vault holds before the measurements. docs/performance.md describes the measurements.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    overload: { type: 'string', default: '60' },
    postings: { type: 'string', default: '10000000' },
    operations: { type: 'string', default: '0' },
    vaults: { type: 'string', default: String(fullSize.vaults) },
    addresses: { type: 'string', default: String(fullSize.spread) },
    only: {
      type: 'string',
      default: 'deposits,hotspots,bad,transfers,votes,signed,rates,reads,storage,overload,statement',
    },
  },
})
const parts: Record<string, (run: Run) => Promise<void>> = {
  deposits: measureDeposits,
  hotspots: measureHotSpots,
  bad: measureBadInput,
  transfers: measureTransfers,
  votes: measureVotes,
  signed: measureSignedVotes,
  rates: measureRates,
  reads: measureReads,
  storage: measureStorage,
  overload: (run) => measureOverload(run, Number(options.overload)),
}
const wanted = options.only.split(',')
const unknown = wanted.filter((name) => !(name in parts) && name !== 'statement')
if (unknown.length > 0)
  throw new Error(`There is no ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}, statement`)

await runOnStack(async ({ record, stack }) => {
  const [vaults, spread] = [Number(options.vaults), Number(options.addresses)]
  const world = await createWorld(stack, { vaults, spread, funded: Math.min(spread, fullSize.funded) })
  const seconds = Number(options.seconds)
  const run: Run = {
    stack,
    world,
    record,
    rounds: Number(options.rounds),
    seconds,
    load: { port: stack.port, seconds },
    acknowledged: world.deposited,
    operations: Number(options.operations),
  }
  if (run.operations > 0) await fillHouse(run)
  for (const [name, measure] of Object.entries(parts)) if (wanted.includes(name)) await measure(run)
  await measureHeapOnlyUpdates(run)
  await assertNothingLost(run)
  if (wanted.includes('statement')) await measureStatement(run, Number(options.postings))
  await world.close()
})

/**
 * Throws unless the number of credited deposits equals the number of acknowledged deposits, and the ledger verifies. A
 * run that lost a deposit does not count.
 */
async function assertNothingLost(run: Run): Promise<void> {
  const [deposits] = await run.stack.sql<{ count: number }>('select count(*)::int from deposits')
  if (deposits!.count !== run.acknowledged) {
    throw new Error(`${run.acknowledged} deposits were acknowledged, but ${deposits!.count} exist`)
  }
  // Verifies without a time limit, like `strongroom ledger verify`: reading the whole ledger may take longer than the
  // time limit of a request.
  const { db } = openDatabase({ url: run.stack.databaseUrl, statementMilliseconds: 0, onError: () => {} })
  const { differences } = await verifyLedger(db)
  await db.destroy()
  // A bare posting reserves without a transfer. The verifier must report the bare postings and nothing else.
  const unexpected = differences.filter(({ kind }) => kind !== 'entry without its operation')
  if (unexpected.length > 0) throw new Error(`The ledger differs: ${JSON.stringify(unexpected.slice(0, 3))}`)
}
