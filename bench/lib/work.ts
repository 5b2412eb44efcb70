import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree } from './processes.ts'
import type { Run } from './run.ts'
import { orderRequests, sendAll } from './transfers.ts'

const restSeconds = 5

/**
 * Places orders and waits until their mails are sent and the wallet service has those that need no vote. A rate of
 * orders alone leaves this work to a later time, and a service that does it at once seems slower.
 * @returns orders per second of CPU of the node and of PostgreSQL, less what both use at rest
 */
export async function workOfOrders(run: Run, amount: string, count = 50): Promise<number> {
  const { stack } = run
  const postmaster = Number(
    readFileSync(join(stack.settings.DATA_DIR!, 'postgres/postmaster.pid'), 'utf8').split('\n')[0],
  )
  const cpu = () => cpuOfTree(stack.nodePid) + cpuOfTree(postmaster)
  const cpuIn = async (work: () => Promise<unknown>) => {
    const [cpuBefore, begin] = [cpu(), performance.now()]
    await work()
    return { cpu: cpu() - cpuBefore, seconds: (performance.now() - begin) / 1_000 }
  }
  await untilDone(run)
  const rest = await cpuIn(() => sleep(restSeconds * 1_000))
  const orders = await cpuIn(async () => {
    await sendAll(run, Array.from({ length: count }, orderRequests(run, amount)), 201)
    await untilDone(run)
  })
  return count / (orders.cpu - (rest.cpu / rest.seconds) * orders.seconds)
}

/** Waits until no mail is due and no transfer waits for its hand-over. */
async function untilDone({ stack }: Run): Promise<void> {
  for (;;) {
    const [waiting] = await stack.sql<{ exists: boolean }>(`
      select exists (select from transfers where phase in ('queued', 'submitting'))
        or exists (select from queued_mails where next_attempt_at is not null) as exists`)
    if (!waiting!.exists) return
    await sleep(250)
  }
}
