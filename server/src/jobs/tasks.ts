import { governedOf } from '../composition/governed.ts'
import type { Deps } from '../deps.ts'
import { isOutage } from '../http/error-handler.ts'
import { idleTaskMilliseconds } from '../lib/limits.ts'
import { runDueBacktests } from '../modules/money/backtests/due-backtests.ts'
import { createDelivery } from '../modules/money/delivery/deliver.ts'
import { postOutstandingFees } from '../modules/money/delivery/fees.ts'
import { createFollower } from '../modules/money/delivery/follow-changes.ts'
import { endUnconfirmedHolds } from '../modules/money/holds/people.ts'
import { sealLedgerEntries } from '../modules/money/ledger/ledger-seals.ts'
import { expirePayouts } from '../modules/money/payouts/payout-votes.ts'
import { runDueReconciliations } from '../modules/money/reconciliations/due-reconciliations.ts'
import { noteStuckTransfers } from '../modules/money/stuck/note-stuck.ts'
import { expireTransfers } from '../modules/money/transfers/transfer-votes.ts'
import { runDueVerifications } from '../modules/money/verifications/due-verifications.ts'
import { watchProviders } from '../modules/people/providers/watch-providers.ts'
import { tellEndsOfTokens } from '../modules/people/service-tokens/tell-ends.ts'
import { sealAuditRecords } from '../modules/record/audit/audit-seals.ts'
import { pollRates } from '../modules/registry/rates/poll.ts'
import { runDueExports } from '../modules/reports/exports/due-exports.ts'
import { expireRequests } from '../modules/rules/approval-requests/vote-on-request.ts'
import { applyDueChangeSets, type Postponed } from '../modules/rules/change-sets/due.ts'
import { watchAuthorities } from '../modules/vaults/authority/watch-authorities.ts'
import { noticeDatabase, watchAccepted } from '../modules/vaults/wallets/watch-accepted.ts'
import { listDueTasks, lookedFor } from './due-work.ts'
import { deleteExpiredRows } from './housekeeping.ts'
import { runDueScreenings } from './run-screenings.ts'
import { sendHeads } from './send-heads.ts'
import { sendMails } from './send-mails.ts'
import { sendNotifications } from './send-notifications.ts'
import { tellStops } from './tell-stops.ts'

/** Starts the background tasks of this node. The returned function stops them and waits for the current runs. */
export function startTasks(deps: Deps): () => Promise<void> {
  const list = () => listDueTasks(deps.db, deps.clock())
  return runTasks(deps, tasksOf(deps), { names: lookedFor, list })
}

/**
 * Returns the tasks. Every node runs all tasks. The functions of the tasks share the work between nodes by row locks and advisory
 * locks.
 */
function tasksOf(deps: Deps): Task[] {
  const { ratesUrl, screening } = deps.config
  const postponed: Postponed = new Map()
  return [
    deliveryTask(deps),
    followTask(deps),
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
      run: () => applyDueChangeSets({ deps, governed: governedOf(deps) }, postponed),
    },
    { name: 'seal-audit', everyMilliseconds: 2_000, restMilliseconds: 2_000, run: () => sealAuditRecords(deps) },
    {
      name: 'seal-ledger',
      everyMilliseconds: 2_000,
      restMilliseconds: 2_000,
      run: (signal) => sealLedgerEntries(deps, signal),
    },
    claimsTask('tell-stops', 400, (signal) => tellStops(deps, signal)),
    { name: 'send-heads', everyMilliseconds: 10_000, run: (signal) => sendHeads(deps, signal) },
    { name: 'make-exports', everyMilliseconds: 1_000, run: (signal) => runDueExports(deps, signal) },
    { name: 'verify-ledgers', everyMilliseconds: 1_000, run: (signal) => runDueVerifications(deps, signal) },
    { name: 'reconcile', everyMilliseconds: 10_000, run: (signal) => runDueReconciliations(deps, signal) },
    { name: 'watch-authorities', everyMilliseconds: 60_000, run: () => watchAuthorities(deps) },
    { name: 'tell-ends-of-tokens', everyMilliseconds: 600_000, run: () => tellEndsOfTokens(deps) },
    { name: 'watch-providers', everyMilliseconds: 60_000, run: () => watchProviders(deps) },
    { name: 'compare-wallets', everyMilliseconds: 600_000, run: () => watchAccepted(deps) },
    { name: 'notice-database', everyMilliseconds: 5_000, run: () => noticeDatabase(deps) },
    { name: 'run-backtests', everyMilliseconds: 1_000, run: (signal) => runDueBacktests(deps, signal) },
    claimsTask('send-mails', 500, (signal) => sendMails(deps, signal), mailRestMilliseconds),
    claimsTask('send-notifications', 1_000, (signal) => sendNotifications(deps, signal), mailRestMilliseconds),
    ...(ratesUrl === null
      ? []
      : [{ name: 'poll-rates', everyMilliseconds: 60_000, run: () => pollRates(deps, ratesUrl) }]),
    { name: 'housekeeping', everyMilliseconds: 600_000, run: () => deleteExpiredRows(deps) },
  ]
}

/**
 * Returns the task that delivers transfers. The wallet service is asked about a transfer some time after its hand-over, so every
 * hand-over reports when the task must run again.
 */
function deliveryTask(deps: Deps): Task {
  let again = (_milliseconds: number) => {}
  const delivery = createDelivery(deps, undefined, (milliseconds) => again(milliseconds))
  return {
    name: 'deliver-transfers',
    everyMilliseconds: 400,
    async run(_signal, runAgain) {
      again = runAgain
      const { nextAt } = await delivery.round()
      if (nextAt !== null) again(nextAt.getTime() - deps.clock().getTime())
    },
    finish: () => delivery.finish(),
  }
}

function followTask(deps: Deps): Task {
  let again = (_milliseconds: number) => {}
  const follower = createFollower(deps, undefined, (milliseconds) => again(milliseconds))
  return {
    name: 'follow-changes',
    everyMilliseconds: 1_000,
    async run(_signal, runAgain) {
      again = runAgain
      await follower.round()
    },
    finish: () => follower.finish(),
  }
}

/** Returns a task that claims rows. If a run leaves work undone, the next run follows after the rest. */
function claimsTask(
  name: string,
  everyMilliseconds: number,
  run: (signal: AbortSignal) => Promise<boolean>,
  restMilliseconds = usualRestMilliseconds,
): Task {
  return {
    name,
    everyMilliseconds,
    restMilliseconds,
    async run(signal, again) {
      if (!(await run(signal))) again(restMilliseconds)
    },
  }
}

/** The pause after a run. Orders that arrive during the pause are claimed together. */
const usualRestMilliseconds = 20

/**
 * The pause between two runs that send mails. The first mail leaves at once. A node sends at most 80 mails a second, so that mails
 * do not slow down the orders.
 */
const mailRestMilliseconds = 250

/** A unit of work that a node repeats in the background. */
export type Task = {
  name: string
  /**
   * The pause between two runs. On a node that hears of commits, a task with a pause below `idleTaskMilliseconds` runs less often:
   * when a commit has work for it, when the common check finds work, or, without a common check, after `idleTaskMilliseconds`.
   */
  everyMilliseconds: number
  /** The shortest pause after a run, also when a commit wakes the task. The next run does the work of all commits since. */
  restMilliseconds?: number
  /** @param again makes the task run again within this number of milliseconds */
  run(signal: AbortSignal, again: (milliseconds: number) => void): Promise<unknown>
  /** Called at a stop. It waits for work that runs have started and not awaited. */
  finish?(): Promise<unknown>
}

type Runner = Pick<Deps, 'log' | 'changeSignal'>

/** A common check that looks for the work of several tasks. */
type Look = {
  /** The tasks that do not look for work themselves. */
  names: ReadonlySet<string>
  /** Returns the names of the tasks that may have work. */
  list(): Promise<string[]>
}

/**
 * Runs each task now, and again after a pause or when it is woken. A task never has two runs at once, and a failed run does not end
 * it. The returned function aborts the signal of the current runs and waits until they end.
 */
export function runTasks(deps: Runner, tasks: Task[], look?: Look): () => Promise<void> {
  const running = new Map(tasks.map((task) => [task.name, runTask(deps, task, look?.names.has(task.name) ?? false)]))
  if (look !== undefined)
    running.set(
      'look',
      runTask(
        deps,
        lookTask(deps, look, (name) => running.get(name)?.wake()),
      ),
    )
  return async () => {
    await Promise.all([...running.values()].map(({ stop }) => stop()))
  }
}

/** Returns the task that wakes tasks with work. It wakes all tasks if the check fails, or if this node does not hear of commits. */
function lookTask({ changeSignal }: Runner, { names, list }: Look, wake: (name: string) => void): Task {
  const everyMilliseconds = idleTaskMilliseconds
  return {
    name: 'look',
    everyMilliseconds,
    async run() {
      let due = [...names]
      try {
        if (changeSignal.isHeard()) due = await list()
      } finally {
        for (const name of due) wake(name)
      }
    },
  }
}

type Running = { wake(): void; stop(): Promise<void> }

function runTask({ log, changeSignal }: Runner, task: Task, isLookedFor = false): Running {
  const { name, everyMilliseconds, restMilliseconds = usualRestMilliseconds, finish } = task
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let failure: string | null = null
  let isRunning = false
  let restsUntil = 0
  /** The time of the next run; during a run, the earliest known time. */
  let nextAt = Number.POSITIVE_INFINITY
  let running = run()
  const stopWaking = changeSignal.onWake(name, () => again(0))

  function again(milliseconds: number): void {
    const at = Date.now() + milliseconds
    if (at >= nextAt) return
    nextAt = at
    if (!isRunning) plan()
  }

  function plan(): void {
    clearTimeout(timer)
    if (stopping.signal.aborted || nextAt === Number.POSITIVE_INFINITY) return
    nextAt = Math.max(nextAt, restsUntil)
    timer = setTimeout(() => {
      running = run()
    }, nextAt - Date.now())
  }

  async function run(): Promise<void> {
    isRunning = true
    nextAt = Number.POSITIVE_INFINITY
    try {
      await task.run(stopping.signal, again)
      if (failure !== null) log.info({ task: name }, 'a background task works again')
      failure = null
    } catch (error) {
      // A repeated failure is logged once. A failure of the database is logged without its stack, which requests log.
      const found = isOutage(error) ? 'the database is away' : String(error)
      if (failure !== found && isOutage(error)) log.warn({ task: name }, 'a background task waits for the database')
      else if (failure !== found) log.error({ err: error, task: name }, 'a background task failed')
      failure = found
    }
    isRunning = false
    restsUntil = Date.now() + Math.min(restMilliseconds, everyMilliseconds)
    const isWoken = everyMilliseconds < idleTaskMilliseconds && changeSignal.isHeard()
    const idleMilliseconds = isLookedFor ? Number.POSITIVE_INFINITY : idleTaskMilliseconds
    nextAt = Math.min(nextAt, Date.now() + (isWoken ? idleMilliseconds : everyMilliseconds))
    plan()
  }

  return {
    wake: () => again(0),
    async stop() {
      stopping.abort()
      stopWaking()
      clearTimeout(timer)
      await running
      await finish?.()
    },
  }
}
