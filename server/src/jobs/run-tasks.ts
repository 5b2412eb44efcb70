import type { Deps } from '../deps.ts'

/** Work that a node does in the background, again and again. */
export type Task = {
  name: string
  /** The pause after a run, before the next one. */
  everyMilliseconds: number
  run(signal: AbortSignal): Promise<unknown>
  /** Waits at a stop for what runs have begun and left going on. */
  finish?(): Promise<unknown>
}

/**
 * Runs each task now and then again, a pause after each run, and never two runs of one task at once. A run that fails does
 * not end its task. The returned function lets the runs under way end; they learn of it by their signal.
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
      // A task that fails every second, as while the database is down, says so once.
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
