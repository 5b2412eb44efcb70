import { setTimeout as sleep } from 'node:timers/promises'
import { assertTakesWrites, StandbyError } from './database-client.ts'

/** Refused connections, names that are not known yet, and a server that starts or has no place. */
const passing = /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|57P0[123]|53300)$/
const pauseMilliseconds = 500

/**
 * Waits for a database that takes writes: beside a start of the whole machine, or a failover, it may need a while.
 * @param say is called once, when there is something to wait for
 * @throws the last failure after the time has passed, and at once one that time does not mend
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
