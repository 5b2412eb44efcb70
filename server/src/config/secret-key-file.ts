import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newSecret } from '../lib/secrets.ts'

const fileIn = (dataDir: string): string => join(dataDir, 'secret-key')

/** Returns the secret key of demo mode, and creates it if the file does not exist. A key is never overwritten. */
export async function makeSecretKey(dataDir: string): Promise<string> {
  const file = fileIn(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(file, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(file, 'utf8')).trim()
}

/** Returns the secret key of demo mode; null if it was not created yet. */
export async function readSecretKeyFile(dataDir: string): Promise<string | null> {
  const file = fileIn(dataDir)
  return existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
}
