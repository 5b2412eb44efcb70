import { type Backoff, retryAt } from '../db/claim.ts'
import type { Deps } from '../deps.ts'

/** A type of work that waits in a table, with the functions that claim it, do it, and release it after a failure. */
export type Claims<Work extends { attempts: number }, Needed = Deps> = {
  name: string
  /** Claims up to `limit` due rows for the time of a lease. Returns an empty list when nothing is due. */
  claim(deps: Needed, limit: number): Promise<Work[]>
  run(deps: Needed, work: Work, signal?: AbortSignal): Promise<void>
  retry(deps: Needed, work: Work, at: Date): Promise<void>
  backoff: Backoff
}

/** The maximum number of rows of one run, so that a node can stop before all waiting work is done. */
const claimsPerRunMax = 20

/** The time for the rows of one claim. It ends well before their lease, so that no other node does the same work. */
const claimMilliseconds = 60_000

/**
 * Does the due work, one row after the other. Failed work is tried again later, with increasing pauses. Claimed rows that a
 * stop or slow work leaves undone are due again at once.
 * @returns true if all due work is done
 */
export async function runClaims<Work extends { attempts: number }, Needed extends Pick<Deps, 'log' | 'clock'>>(
  deps: Needed,
  { name, claim, run, retry, backoff }: Claims<Work, Needed>,
  signal?: AbortSignal,
): Promise<boolean> {
  for (let left = claimsPerRunMax; left > 0 && signal?.aborted !== true; ) {
    const claimed = await claim(deps, left)
    if (claimed.length === 0) return true
    left -= claimed.length
    const until = performance.now() + claimMilliseconds
    for (const work of claimed) {
      if (signal?.aborted || performance.now() > until) await retry(deps, work, deps.clock())
      else await attempt(work)
    }
  }
  return false

  async function attempt(work: Work): Promise<void> {
    try {
      await run(deps, work, signal)
    } catch (error) {
      deps.log.warn({ err: error, work: name, attempts: work.attempts }, 'work failed and is tried again later')
      await retry(deps, work, retryAt(deps.clock(), work.attempts, backoff))
    }
  }
}
