import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newSecret } from '../lib/secrets.ts'

const fileIn = (dataDir: string): string => join(dataDir, 'secret-key')

/** Demo mode creates its own key once and never overwrites one; otherwise config.ts requires a key. */
export async function makeSecretKey(dataDir: string): Promise<string> {
  const file = fileIn(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(file, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(file, 'utf8')).trim()
}

/** The key that demo mode has made; null: none yet. */
export async function readSecretKeyFile(dataDir: string): Promise<string | null> {
  const file = fileIn(dataDir)
  return existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
}
