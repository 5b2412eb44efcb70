import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Version of the package, and the commit it was made from; null in a checkout, which `npm run package` has not packed. */
export type Version = { version: string; commit: string | null }

const require = createRequire(import.meta.url)

// By the name of the package: a benchmark compiles this file to another folder.
const { version } = require('@strongroom/server/package.json') as { version: string }

export const thisVersion: Version = { version, commit: readCommit() }

/** `npm run package` leaves this file beside the manifest. */
function readCommit(): string | null {
  try {
    const text = readFileSync(
      require.resolve('@strongroom/server/package.json').replace(/package\.json$/, 'commit'),
      'utf8',
    )
    return /^[0-9a-f]{40}$/.exec(text.trim())?.[0] ?? null
  } catch {
    return null
  }
}

/** Such as `0.1.0`, or `0.1.0 (1a2b3c4d5e6f)` of a package. */
export function describeVersion({ version, commit }: Version): string {
  return commit === null ? version : `${version} (${commit.slice(0, 12)})`
}
