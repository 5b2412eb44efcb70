import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The file with the password of the superuser, and the file with the password of the role of the service. */
type PasswordFile = 'postgres-password' | 'postgres-service-password'

/** Returns a password, of the superuser unless another file is named, or null when none was created yet. */
export function findPassword(dataDir: string, name: PasswordFile = 'postgres-password'): string | null {
  try {
    return readFileSync(join(dataDir, name), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Creates the password once. Two processes that start together both get the password that was written first. */
export function ensurePassword(dataDir: string, name: PasswordFile = 'postgres-password'): string {
  const known = findPassword(dataDir, name)
  if (known) return known
  const path = join(dataDir, name)
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  writeSync(file, `${randomBytes(24).toString('hex')}\n`)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8').trim()
}
