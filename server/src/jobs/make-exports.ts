import type { Deps } from '../deps.ts'
import { runDueExports } from '../modules/reports/exports/run.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 1_000

/** Makes the files of reports that were ordered; one that is being made when the node stops is begun again elsewhere. */
export function startExports(deps: Deps): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeat(deps, 'make-exports', pauseMilliseconds, () => runDueExports(deps, stopping.signal))
  return async () => {
    stopping.abort()
    await stop()
  }
}
