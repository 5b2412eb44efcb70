import { type Backoff, retryAt } from '../db/claim.ts'
import type { Deps } from '../deps.ts'

/** Work that waits in a table: how it is taken, done, and put back when that failed. */
export type Claims<Work extends { attempts: number }> = {
  name: string
  /** Takes what is due, for the time of a lease; null when nothing is. */
  claim(deps: Deps): Promise<Work | null>
  run(deps: Deps, work: Work, signal?: AbortSignal): Promise<void>
  retry(deps: Deps, work: Work, at: Date): Promise<void>
  backoff: Backoff
}

/** After so many a run ends, so that a node that stops does not first do all that waits. */
const claimsPerRunMax = 20

/** Does what is due, one piece after the other. What failed is tried again later, after longer and longer pauses. */
export async function runClaims<Work extends { attempts: number }>(
  deps: Deps,
  { name, claim, run, retry, backoff }: Claims<Work>,
  signal?: AbortSignal,
): Promise<void> {
  for (let count = 0; count < claimsPerRunMax && signal?.aborted !== true; count += 1) {
    const work = await claim(deps)
    if (work === null) return
    try {
      await run(deps, work, signal)
    } catch (error) {
      deps.log.warn({ err: error, work: name, attempts: work.attempts }, 'work failed and is tried again later')
      await retry(deps, work, retryAt(deps.clock(), work.attempts, backoff))
    }
  }
}
