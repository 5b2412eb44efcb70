import { type Backoff, retryAt } from '../db/claim.ts'
import type { Deps } from '../deps.ts'

/** A type of work that waits in a table: how it is claimed, done, and released after a failure. */
export type Claims<Work extends { attempts: number }> = {
  name: string
  /** Claims one due row for the time of a lease; null when none is due. */
  claim(deps: Deps): Promise<Work | null>
  run(deps: Deps, work: Work, signal?: AbortSignal): Promise<void>
  retry(deps: Deps, work: Work, at: Date): Promise<void>
  backoff: Backoff
}

/** The maximum number of claims of one run, so that a node can stop before all waiting work is done. */
const claimsPerRunMax = 20

/**
 * Does the due work, one claim after the other. Failed work is tried again later, with increasing pauses.
 * @returns true if all due work is done
 */
export async function runClaims<Work extends { attempts: number }>(
  deps: Deps,
  { name, claim, run, retry, backoff }: Claims<Work>,
  signal?: AbortSignal,
): Promise<boolean> {
  for (let count = 0; count < claimsPerRunMax && signal?.aborted !== true; count += 1) {
    const work = await claim(deps)
    if (work === null) return true
    try {
      await run(deps, work, signal)
    } catch (error) {
      deps.log.warn({ err: error, work: name, attempts: work.attempts }, 'work failed and is tried again later')
      await retry(deps, work, retryAt(deps.clock(), work.attempts, backoff))
    }
  }
  return false
}
