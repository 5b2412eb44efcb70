import type { Deps } from '../deps.ts'

/**
 * Runs `work` now and then again, a pause after each run; a failing run is logged and the next one follows all the same.
 * The returned function ends it and waits for a run that is under way.
 */
export function repeat(
  { log }: Pick<Deps, 'log'>,
  name: string,
  pauseMilliseconds: number,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let running = run()

  async function run(): Promise<void> {
    try {
      await work()
    } catch (error) {
      log.error({ err: error, task: name }, 'a repeated task failed')
    }
    if (isStopped) return
    timer = setTimeout(() => {
      running = run()
    }, pauseMilliseconds)
  }

  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
