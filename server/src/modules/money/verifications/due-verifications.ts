import { sql } from 'kysely'
import type { Deps } from '../../../deps.ts'
import { exportHeartbeatMilliseconds } from '../../../lib/limits.ts'
import { type VerificationRow, verificationJobs } from './queries.ts'
import { verifyLedger } from './verify-ledger.ts'
import { verifyLedgerSeals } from './verify-seals.ts'

/** Runs the waiting verifications one after the other, until none waits or `signal` aborts. */
export async function runDueVerifications(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const taken = await verificationJobs.take(deps.db, deps.clock())
    if (taken === null) return
    await runVerification(deps, taken, signal)
  }
}

async function runVerification(deps: Deps, taken: VerificationRow, signal: AbortSignal): Promise<void> {
  const { db, clock, log, slowReads, sealKey, config } = deps
  const heartbeat = setInterval(() => {
    verificationJobs
      .renew(db, taken, clock())
      .catch((error: unknown) =>
        log.warn({ err: error, verificationId: taken.id }, 'the lease of a verification was not renewed'),
      )
  }, exportHeartbeatMilliseconds)
  try {
    const { differences } = await slowReads.onReplica((source) => verifyLedger(source, taken.vault_id, signal))
    const trusted = new Set([sealKey.keyId, ...config.sealKeys])
    const chains = await slowReads.onReplica((source) =>
      verifyLedgerSeals(source, { vaultId: taken.vault_id, trusted, signal }),
    )
    const findings = [
      ...differences.map(({ kind, detail }) => ({ check: kind, message: detail })),
      ...chains.flatMap(({ fault }) => (fault === null ? [] : [{ check: 'seal', message: fault.detail }])),
    ]
    if (findings.length > 0) {
      log.error(
        { vaultId: taken.vault_id, verificationId: taken.id, findings: findings.length },
        'the ledger has differences',
      )
    }
    await verificationJobs.finish(db, taken, sql`findings = ${JSON.stringify(findings)}`, clock())
  } catch (error) {
    if (signal.aborted) return await verificationJobs.release(db, taken)
    log.error({ err: error, verificationId: taken.id }, 'a verification of a ledger failed')
    const failure = 'The checks could not be made; the log of the service says why'
    await verificationJobs.fail(db, taken, failure, clock())
  } finally {
    clearInterval(heartbeat)
  }
}
