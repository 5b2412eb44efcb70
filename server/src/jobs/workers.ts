import type { QueueName } from '../db/queues.ts'
import type { Deps } from '../deps.ts'
import { startTransferDelivery } from './deliver-transfers.ts'
import { startApprovalExpiry } from './expire-approvals.ts'
import { jobHandlers } from './handlers.ts'
import { startHousekeeping } from './housekeeping.ts'
import { startExports } from './make-exports.ts'
import { startRatePolling } from './poll-rates.ts'
import { startSealing } from './seal-audit.ts'
import { startNotifications } from './send-notifications.ts'

/** Within what a process manager grants a node to stop. */
const stopTimeoutMilliseconds = 6_000

/** Starts this node's workers on every queue and its repeated tasks; the returned function lets running ones end. */
export async function startWorkers(deps: Deps): Promise<() => Promise<void>> {
  const { boss } = deps.jobs
  await boss.start()
  for (const [name, handle] of Object.entries(jobHandlers) as [
    QueueName,
    NonNullable<(typeof jobHandlers)[QueueName]>,
  ][]) {
    await boss.work<object>(name, { pollingIntervalSeconds: 0.5, batchSize: 1 }, async (jobs) => {
      for (const job of jobs) await handle(deps, job.data)
    })
  }
  const stopTasks = [
    startSealing(deps),
    startHousekeeping(deps),
    startTransferDelivery(deps),
    startApprovalExpiry(deps),
    startRatePolling(deps),
    startNotifications(deps),
    startExports(deps),
  ]
  return async () => {
    await Promise.all([
      boss.stop({ graceful: true, timeout: stopTimeoutMilliseconds, wait: true }),
      ...stopTasks.map((stop) => stop()),
    ])
  }
}
