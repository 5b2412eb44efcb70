import { sql } from 'kysely'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { recordProviderRates } from '../modules/rates/actions.ts'
import { readProvider } from '../modules/rates/read-provider.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 60_000

/** Asks the rates provider every minute; without one there is nothing to do. */
export function startRatePolling(deps: Deps): () => Promise<void> {
  if (deps.config.ratesUrl === null) return async () => {}
  const url = deps.config.ratesUrl
  return repeat(deps, 'poll-rates', pauseMilliseconds, () => pollRates(deps, url))
}

/** Records what the provider says now. Two nodes at once: one records. */
export async function pollRates(deps: Deps, url: string): Promise<void> {
  const { usdRateByCode, refused } = await readProvider(url)
  if (refused.length > 0)
    deps.log.warn({ codes: refused.slice(0, 20) }, 'rates that are no exact decimals were left out')
  if (usdRateByCode.size === 0) return
  await inTransaction(deps.db, async (trx) => {
    const { rows } = await sql<{ is_free: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('strongroom rates', 0)) as is_free`.execute(trx)
    if (rows[0]?.is_free === true) await recordProviderRates(trx, usdRateByCode, deps.clock())
  })
}
