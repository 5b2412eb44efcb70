import type { Deps } from '../deps.ts'

/** Work that a node repeats in the background. */
export type Task = {
  name: string
  /** The pause after a run, before the next one. */
  everyMilliseconds: number
  run(signal: AbortSignal): Promise<unknown>
  /** Called at a stop: waits for work that runs have started and not awaited. */
  finish?(): Promise<unknown>
}

/**
 * Runs each task now and repeats it after a pause, and never runs one task twice at once. A failed run does not end its
 * task. The returned function aborts the signal of the current runs and waits until they end.
 */
export function runTasks({ log }: Pick<Deps, 'log'>, tasks: Task[]): () => Promise<void> {
  const stops = tasks.map((task) => runTask(log, task))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function runTask(log: Deps['log'], task: Task): () => Promise<void> {
  const { name, everyMilliseconds, finish } = task
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let failure: string | null = null
  let running = run()

  async function run(): Promise<void> {
    try {
      await task.run(stopping.signal)
      if (failure !== null) log.info({ task: name }, 'a background task works again')
      failure = null
    } catch (error) {
      // A task that fails every second, for example while the database is down, is logged once.
      if (failure !== String(error)) log.error({ err: error, task: name }, 'a background task failed')
      failure = String(error)
    }
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = run()
    }, everyMilliseconds)
  }

  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await running
    await finish?.()
  }
}
