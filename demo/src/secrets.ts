import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

const names = [
  'secretKey',
  'walletPassphrase',
  'walletToken',
  'reserveToken',
  'depositsToken',
  'webhookSecret',
  'nodePassword',
] as const
export type Secrets = Record<(typeof names)[number], string>

/**
 * Returns the secrets that the parts share. They are created once for a data directory and stored in a file that only
 * its owner can read.
 */
export function ensureSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  const known = readJson<Partial<Secrets>>(path) ?? {}
  const secrets = Object.fromEntries(names.map((name) => [name, known[name] ?? newSecret()])) as Secrets
  if (names.some((name) => known[name] === undefined)) writeJson(path, secrets)
  keepSecretKey(dataDir, secrets.secretKey)
  return secrets
}

/**
 * Writes the key of the record to the file in which the commands of the service look for it. An existing file is kept.
 */
function keepSecretKey(dataDir: string, secretKey: string): void {
  const path = join(dataDir, 'secret-key')
  if (!existsSync(path)) writeFileSync(path, `${secretKey}\n`, { mode: 0o600, flush: true })
}

const newSecret = () => randomBytes(32).toString('base64url')
