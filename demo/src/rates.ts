import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeJson } from './data-files.ts'

/** USD rates of the demo. They are fixed, because the demo reaches no network. */
export const demoRates: Record<string, string> = { ETH: '3000', TUSD: '1', BTC: '60000', LTC: '80' }

/** Creates the file of rates that the server polls, and that a user may edit. Returns its path. */
export function ensureRates(dataDir: string): string {
  const path = join(dataDir, 'rates.json')
  if (!existsSync(path)) writeJson(path, demoRates)
  return pathToFileURL(path).href
}
