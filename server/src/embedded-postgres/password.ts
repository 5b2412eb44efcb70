import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The superuser's password, or null when none was made yet. */
export function findPassword(dataDir: string): string | null {
  try {
    return readFileSync(passwordPath(dataDir), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Creates the password once. Two processes that start together both get the one that was written first. */
export function ensurePassword(dataDir: string): string {
  const known = findPassword(dataDir)
  if (known) return known
  const draft = `${passwordPath(dataDir)}.${process.pid}`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  writeSync(file, `${randomBytes(24).toString('hex')}\n`)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(draft, passwordPath(dataDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(passwordPath(dataDir), 'utf8').trim()
}

function passwordPath(dataDir: string): string {
  return join(dataDir, 'postgres-password')
}
