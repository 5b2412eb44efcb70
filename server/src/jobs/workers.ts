import type { QueueName } from '../db/queues.ts'
import type { Deps } from '../deps.ts'
import { jobHandlers } from './handlers.ts'

/** Starts this node's workers on every queue; `stop` lets running jobs end. */
export async function startWorkers(deps: Deps): Promise<() => Promise<void>> {
  const { boss } = deps.jobs
  await boss.start()
  for (const [name, handle] of Object.entries(jobHandlers) as [
    QueueName,
    NonNullable<(typeof jobHandlers)[QueueName]>,
  ][]) {
    await boss.work<object>(name, { pollingIntervalSeconds: 0.5, batchSize: 1 }, async (jobs) => {
      for (const job of jobs) await handle(deps, job.data)
    })
  }
  return () => boss.stop({ graceful: true, timeout: 10_000, wait: true })
}
