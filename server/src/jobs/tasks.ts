import { governedOf } from '../composition/governed.ts'
import type { Deps } from '../deps.ts'
import { runDueBacktests } from '../modules/money/backtests/run.ts'
import { createDelivery } from '../modules/money/delivery/deliver.ts'
import { postOutstandingFees } from '../modules/money/delivery/fees.ts'
import { endUnconfirmedHolds } from '../modules/money/holds/people.ts'
import { sealLedgerEntries } from '../modules/money/ledger/seal.ts'
import { expirePayouts } from '../modules/money/payouts/vote.ts'
import { runDueReconciliations } from '../modules/money/reconciliations/run.ts'
import { noteStuckTransfers } from '../modules/money/stuck/note-stuck.ts'
import { expireTransfers } from '../modules/money/transfers/vote.ts'
import { runDueVerifications } from '../modules/money/verifications/run.ts'
import { sealAuditRecords } from '../modules/record/audit/seal.ts'
import { pollRates } from '../modules/registry/rates/poll.ts'
import { runDueExports } from '../modules/reports/exports/run.ts'
import { expireRequests } from '../modules/rules/approval-requests/vote-on-request.ts'
import { applyDueChangeSets } from '../modules/rules/change-sets/due.ts'
import { watchAuthorities } from '../modules/vaults/authority/watch-authorities.ts'
import { deleteExpiredRows } from './housekeeping.ts'
import { runDueScreenings } from './run-screenings.ts'
import { sendHeads } from './send-heads.ts'
import { sendMails } from './send-mails.ts'
import { sendNotifications } from './send-notifications.ts'
import { tellStops } from './tell-stops.ts'

/** Starts the background tasks of this node. The returned function stops them and waits for runs under way. */
export function startTasks(deps: Deps): () => Promise<void> {
  return runTasks(deps, tasksOf(deps))
}

/** Every node runs all of them. Nodes share the work by row locks and advisory locks, in the functions named here. */
function tasksOf(deps: Deps): Task[] {
  const delivery = createDelivery(deps)
  const { ratesUrl, screening } = deps.config
  return [
    {
      name: 'deliver-transfers',
      everyMilliseconds: 400,
      run: () => delivery.round(),
      finish: () => Promise.all(delivery.underWay.values()),
    },
    ...(screening === null ? [] : [{ name: 'screen', everyMilliseconds: 400, run: () => runDueScreenings(deps) }]),
    { name: 'expire-transfers', everyMilliseconds: 400, run: () => expireTransfers(deps) },
    { name: 'expire-payouts', everyMilliseconds: 1_000, run: () => expirePayouts(deps) },
    { name: 'note-stuck-transfers', everyMilliseconds: 10_000, run: () => noteStuckTransfers(deps) },
    { name: 'post-fees', everyMilliseconds: 30_000, run: () => postOutstandingFees(deps) },
    { name: 'end-holds', everyMilliseconds: 10_000, run: () => endUnconfirmedHolds(deps) },
    { name: 'expire-approvals', everyMilliseconds: 1_000, run: () => expireRequests(deps) },
    {
      name: 'apply-rules',
      everyMilliseconds: 1_000,
      run: () => applyDueChangeSets({ deps, governed: governedOf(deps) }),
    },
    { name: 'seal-audit', everyMilliseconds: 2_000, run: () => sealAuditRecords(deps) },
    { name: 'seal-ledger', everyMilliseconds: 2_000, run: (signal) => sealLedgerEntries(deps, signal) },
    { name: 'tell-stops', everyMilliseconds: 400, run: (signal) => tellStops(deps, signal) },
    { name: 'send-heads', everyMilliseconds: 10_000, run: (signal) => sendHeads(deps, signal) },
    { name: 'make-exports', everyMilliseconds: 1_000, run: (signal) => runDueExports(deps, signal) },
    { name: 'verify-ledgers', everyMilliseconds: 1_000, run: (signal) => runDueVerifications(deps, signal) },
    { name: 'reconcile', everyMilliseconds: 10_000, run: (signal) => runDueReconciliations(deps, signal) },
    { name: 'watch-authorities', everyMilliseconds: 60_000, run: () => watchAuthorities(deps) },
    { name: 'run-backtests', everyMilliseconds: 1_000, run: (signal) => runDueBacktests(deps, signal) },
    { name: 'send-mails', everyMilliseconds: 500, run: (signal) => sendMails(deps, signal) },
    { name: 'send-notifications', everyMilliseconds: 1_000, run: (signal) => sendNotifications(deps, signal) },
    ...(ratesUrl === null
      ? []
      : [{ name: 'poll-rates', everyMilliseconds: 60_000, run: () => pollRates(deps, ratesUrl) }]),
    { name: 'housekeeping', everyMilliseconds: 600_000, run: () => deleteExpiredRows(deps) },
  ]
}

/** Work that a node repeats in the background. */
export type Task = {
  name: string
  /** The pause after a run, before the next one. */
  everyMilliseconds: number
  run(signal: AbortSignal): Promise<unknown>
  /** Called at a stop: waits for work that runs have started and not awaited. */
  finish?(): Promise<unknown>
}

/**
 * Runs each task now and repeats it after a pause, and never runs one task twice at once. A failed run does not end its
 * task. The returned function aborts the signal of the current runs and waits until they end.
 */
export function runTasks({ log }: Pick<Deps, 'log'>, tasks: Task[]): () => Promise<void> {
  const stops = tasks.map((task) => runTask(log, task))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function runTask(log: Deps['log'], task: Task): () => Promise<void> {
  const { name, everyMilliseconds, finish } = task
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let failure: string | null = null
  let running = run()

  async function run(): Promise<void> {
    try {
      await task.run(stopping.signal)
      if (failure !== null) log.info({ task: name }, 'a background task works again')
      failure = null
    } catch (error) {
      // A task that fails every second, for example while the database is down, is logged once.
      if (failure !== String(error)) log.error({ err: error, task: name }, 'a background task failed')
      failure = String(error)
    }
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = run()
    }, everyMilliseconds)
  }

  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await running
    await finish?.()
  }
}
