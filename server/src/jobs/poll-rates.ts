import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { recordProviderRates } from '../modules/registry/rates/actions.ts'
import { tryLockRates } from '../modules/registry/rates/queries.ts'
import { readProvider } from '../modules/registry/rates/read-provider.ts'
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
    if (!(await tryLockRates(trx))) return
    const { rateJumpFactorHundredths: jumpFactorHundredths } = deps.config
    await recordProviderRates(trx, usdRateByCode, { jumpFactorHundredths, now: deps.clock() })
  })
}
