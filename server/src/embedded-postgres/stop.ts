import { setTimeout as sleep } from 'node:timers/promises'
import { servesCluster } from './postmaster.ts'

const POLL_MS = 10
const FAST_STOP_MS = 30_000
const IMMEDIATE_STOP_MS = 10_000

/**
 * Stops the server of the directory as `pg_ctl stop -m fast` does: sessions are ended, everything is written out.
 * If it hangs, it is ordered to quit at once, which requires a recovery at the next start but loses no committed data.
 */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  if (await signalAndWait(pid, clusterDir, 'SIGINT', FAST_STOP_MS)) return
  if (await signalAndWait(pid, clusterDir, 'SIGQUIT', IMMEDIATE_STOP_MS)) return
  throw new Error(`PostgreSQL (process ${pid}) does not stop; see postgres.log beside its data directory.`)
}

async function signalAndWait(pid: number, clusterDir: string, signal: NodeJS.Signals, waitMs: number) {
  const deadline = Date.now() + waitMs
  if (!servesCluster(pid, clusterDir)) return true
  signalIfThere(pid, signal)
  while (Date.now() < deadline) {
    if (!servesCluster(pid, clusterDir)) return true
    await sleep(POLL_MS)
  }
  return false
}

/** Sends a signal; ignores that the process has just ended. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
