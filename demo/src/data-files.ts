import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Reads the JSON of a file. Returns null if the file does not exist. */
export function readJson<Value>(path: string): Value | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Value
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Replaces the file as a whole, readable by its owner only, and flushes it. A crash leaves the old content or the new
 * content.
 */
export function writeJson(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(draft, path)
}
