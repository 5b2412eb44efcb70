import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeJson } from './data-files.ts'

/** USD rates of the demo: fixed, because the demo reaches no network. */
export const demoRates: Record<string, string> = { ETH: '3000', TUSD: '1' }

/** The file of rates that the server polls, which a user may edit. */
export function ensureRates(dataDir: string): string {
  const path = join(dataDir, 'rates.json')
  if (!existsSync(path)) writeJson(path, demoRates)
  return pathToFileURL(path).href
}
