import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { recordProviderRates } from './actions.ts'
import { tryLockRates } from './queries.ts'
import { readProvider } from './read-provider.ts'

/** Reads the current rates of the provider and records them. If several nodes do so at once, one of them records. */
export async function pollRates(deps: Deps, url: string): Promise<void> {
  const { usdRateByCode, refused } = await readProvider(url)
  if (refused.length > 0)
    deps.log.warn({ codes: refused.slice(0, 20) }, 'rates that are not exact decimals were ignored')
  if (usdRateByCode.size === 0) return
  await inTransaction(deps.db, async (trx) => {
    if (!(await tryLockRates(trx))) return
    const { rateJumpFactorHundredths: jumpFactorHundredths } = deps.config
    await recordProviderRates(trx, usdRateByCode, { jumpFactorHundredths, now: deps.clock() })
  })
}
