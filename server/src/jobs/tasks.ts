import type { Deps } from '../deps.ts'
import { createDelivery, postOutstandingFees } from '../modules/money/transfers/deliver.ts'
import { expireTransfers } from '../modules/money/transfers/expire.ts'
import { sealAuditRecords } from '../modules/record/audit/seal.ts'
import { pollRates } from '../modules/registry/rates/poll.ts'
import { runDueExports } from '../modules/reports/exports/run.ts'
import { expireRequests } from '../modules/rules/approval-requests/expire.ts'
import { deleteExpiredRows } from './housekeeping.ts'
import { runTasks, type Task } from './run-tasks.ts'
import { sendMails } from './send-mails.ts'
import { sendNotifications } from './send-notifications.ts'

/** Starts the background tasks of this node. The returned function stops them and waits for runs under way. */
export function startTasks(deps: Deps): () => Promise<void> {
  return runTasks(deps, tasksOf(deps))
}

/** Every node runs all of them. Nodes share the work by row locks and advisory locks, in the functions named here. */
function tasksOf(deps: Deps): Task[] {
  const delivery = createDelivery(deps)
  const { ratesUrl } = deps.config
  return [
    {
      name: 'deliver-transfers',
      everyMilliseconds: 400,
      run: () => delivery.round(),
      finish: () => Promise.all(delivery.underWay.values()),
    },
    { name: 'expire-transfers', everyMilliseconds: 400, run: () => expireTransfers(deps) },
    { name: 'post-fees', everyMilliseconds: 30_000, run: () => postOutstandingFees(deps) },
    { name: 'expire-approvals', everyMilliseconds: 1_000, run: () => expireRequests(deps) },
    { name: 'seal-audit', everyMilliseconds: 2_000, run: () => sealAuditRecords(deps) },
    { name: 'make-exports', everyMilliseconds: 1_000, run: (signal) => runDueExports(deps, signal) },
    { name: 'send-mails', everyMilliseconds: 500, run: (signal) => sendMails(deps, signal) },
    { name: 'send-notifications', everyMilliseconds: 1_000, run: (signal) => sendNotifications(deps, signal) },
    ...(ratesUrl === null
      ? []
      : [{ name: 'poll-rates', everyMilliseconds: 60_000, run: () => pollRates(deps, ratesUrl) }]),
    { name: 'housekeeping', everyMilliseconds: 600_000, run: () => deleteExpiredRows(deps) },
  ]
}
