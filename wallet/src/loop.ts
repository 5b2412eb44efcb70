import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { describeNodeError } from './chains/node-error.ts'

/** A pass that is repeated until it is stopped. */
export type Loop = {
  /** Starts the next pass at once instead of after the pause. */
  wake(): void
  /** Ends after the pass that is running. */
  stop(): Promise<void>
}

const backoffMillisecondsMax = 10_000

type Options = {
  name: string
  everyMilliseconds: number
  /** Half of the pause after the first failure; the pauses grow from there. */
  retryMilliseconds?: number
  pass: () => Promise<boolean | number>
}

/**
 * Repeats `pass` every `everyMilliseconds`. After a pass that returns true, the next pass follows at once; after a pass that returns a
 * number, within that many milliseconds; after a pass that throws, after a longer pause.
 */
export function startLoop(
  log: Logger,
  { name, everyMilliseconds, retryMilliseconds = everyMilliseconds, pass }: Options,
): Loop {
  let stopped = false
  let woken = false
  let pause = new AbortController()

  async function run() {
    let failures = 0
    let lastError: string | null = null
    while (!stopped) {
      woken = false
      pause = new AbortController()
      let delay = everyMilliseconds
      try {
        const due = await pass()
        if (due === true) delay = 0
        else if (due !== false) delay = Math.min(delay, Math.max(due, 0))
        if (failures > 0) log.info({ loop: name }, 'works again')
        failures = 0
        lastError = null
      } catch (error) {
        failures += 1
        delay = Math.min(
          retryMilliseconds * 2 ** Math.min(failures, 10),
          Math.max(backoffMillisecondsMax, retryMilliseconds),
        )
        // A lasting outage is logged at warn level once for each reason, not on every pass.
        const reason = describeNodeError(error)
        log[reason === lastError ? 'debug' : 'warn']({ loop: name, error: reason }, 'pass failed')
        lastError = reason
      }
      if (!stopped && !woken && delay > 0)
        await sleep(delay, undefined, { signal: pause.signal }).catch(() => undefined)
    }
  }
  const ended = run()

  return {
    wake() {
      woken = true
      pause.abort()
    },
    async stop() {
      stopped = true
      pause.abort()
      await ended
    },
  }
}
