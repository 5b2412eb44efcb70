import { sql } from 'kysely'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { exportAttemptsMax, exportHeartbeatMilliseconds } from '../../../lib/limits.ts'
import { type Failure, makeInWorker } from './make-in-worker.ts'
import { exportJobs, failReportExport, type ReportExportRow, releaseReportExport } from './queries.ts'

/** Makes the requested files, one after the other, until none waits or `signal` aborts. */
export async function runDueExports(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await exportJobs.take(deps.db, deps.clock())
    if (taken === null) return
    await runExport(deps, taken, signal)
  }
}

async function runExport(deps: Deps, taken: ReportExportRow, signal: AbortSignal): Promise<void> {
  const lost = new AbortController()
  let percent = 0
  const heartbeat = setInterval(() => {
    exportJobs.renew(deps.db, taken, deps.clock(), sql`, percent = ${percent}`).then(
      (isOurs) => {
        if (!isOurs) lost.abort()
      },
      (error: unknown) => deps.log.warn({ err: error, exportId: taken.id }, 'the lease of an export was not renewed'),
    )
  }, exportHeartbeatMilliseconds)
  try {
    const outcome = await makeInWorker(deps, taken, AbortSignal.any([signal, lost.signal]), (made) => {
      percent = made
    })
    if (outcome.is === 'failed') await giveUp(deps, taken, outcome)
    // The release names this attempt, so it does not affect a worker that has claimed the export since then.
    if (outcome.is === 'stopped') await inTransaction(deps.db, (trx) => releaseReportExport(trx, taken))
  } finally {
    clearInterval(heartbeat)
  }
}

/** A mistake of the requester is reported and final; any other failure is retried a few times. */
async function giveUp(deps: Deps, taken: ReportExportRow, { reason, error }: Failure): Promise<void> {
  if (reason === null) deps.log.error({ err: error, exportId: taken.id }, 'an export failed')
  await inTransaction(deps.db, async (trx) => {
    if (reason === null && taken.attempt < exportAttemptsMax) return releaseReportExport(trx, taken)
    const failure = reason ?? 'The file could not be made; try again later'
    return failReportExport(trx, taken, failure, deps.clock())
  })
}
