import { setTimeout as sleep } from 'node:timers/promises'
import { assertTakesWrites, StandbyError } from './database-client.ts'

/** The errors that may pass: a refused connection, an unknown host name, and a server that starts, stops or has no free connection. */
const passing = /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|57P0[123]|53300)$/
const pauseMilliseconds = 500

/**
 * Waits until the database takes writes, which may take a while when the machine has started or during a failover.
 * @param say is called once with the reason, if the database does not take writes at once
 * @throws the last failure when the time has passed, and at once a failure that cannot pass
 */
export async function waitForDatabase(
  url: string,
  { seconds, say }: { seconds: number; say(reason: string): void },
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000
  for (let isTold = false; ; isTold = true) {
    try {
      return await assertTakesWrites(url)
    } catch (error) {
      if (!mayPass(error) || performance.now() >= deadline) throw error
      if (!isTold) say(error instanceof Error && error.message !== '' ? error.message : String((error as Coded).code))
    }
    await sleep(pauseMilliseconds)
  }
}

type Coded = { code?: string }

function mayPass(error: unknown): boolean {
  if (error instanceof StandbyError || passing.test((error as Coded).code ?? '')) return true
  // pg has no code for these.
  return error instanceof Error && /timeout expired|Connection terminated/.test(error.message)
}
