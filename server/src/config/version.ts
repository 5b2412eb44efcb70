import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The version of the package and its commit. The commit is null in a checkout, because `npm run package` adds it. */
export type Version = { version: string; commit: string | null }

const require = createRequire(import.meta.url)

// The manifest is found by the name of the package, because a benchmark compiles this file to another folder.
const { version } = require('@strongroom/server/package.json') as { version: string }

export const thisVersion: Version = { version, commit: readCommit() }

/** Reads the file that `npm run package` writes beside the manifest. */
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

/** Returns a text such as `0.1.0`, or `0.1.0 (1a2b3c4d5e6f)` for a package. */
export function describeVersion({ version, commit }: Version): string {
  return commit === null ? version : `${version} (${commit.slice(0, 12)})`
}
