import { readFile } from 'node:fs/promises'
import { request } from 'undici'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { rateAnswerBytesMax, rateCallTimeoutMilliseconds } from '../../../lib/limits.ts'
import { parseStrictJson } from '../../../lib/strict-json.ts'
import { readWithin } from '../../../outbound/read-within.ts'
import { recordProviderRates } from './actions.ts'
import { tryLockRates } from './queries.ts'

/** Reads the current rates of the provider and records them. If several nodes poll at once, one node records them. */
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

/** Reads `{CODE: "usd"}` from the provider: an http(s) URL, or a file for development. */
async function readProvider(url: string): Promise<{ usdRateByCode: Map<string, string>; refused: string[] }> {
  const text = url.startsWith('file:') ? await readFile(new URL(url), 'utf8') : await download(url)
  return parseRates(parseStrictJson(text))
}

/** Returns the entries that are exact positive decimals, and the codes of the other entries. */
function parseRates(answer: unknown): { usdRateByCode: Map<string, string>; refused: string[] } {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('The rates are not a JSON object')
  const usdRateByCode = new Map<string, string>()
  const refused: string[] = []
  for (const [code, rate] of Object.entries(answer)) {
    const isExact = typeof rate === 'string' && /^(0|[1-9]\d{0,19})(\.\d{1,18})?$/.test(rate) && !/^[0.]+$/.test(rate)
    if (isExact) usdRateByCode.set(code, rate)
    else refused.push(code)
  }
  return { usdRateByCode, refused }
}

async function download(url: string): Promise<string> {
  const response = await request(url, {
    signal: AbortSignal.timeout(rateCallTimeoutMilliseconds),
    headers: { accept: 'application/json' },
  })
  if (response.statusCode !== 200) throw new Error(`The rates provider answered ${response.statusCode}`)
  return (await readWithin(response.body, rateAnswerBytesMax)).toString('utf8')
}
