import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

const names = ['secretKey', 'walletPassphrase', 'walletToken', 'reserveToken', 'webhookSecret'] as const
export type Secrets = Record<(typeof names)[number], string>

/** The secrets that the parts share, created once for a data directory and stored in a file that only its owner can read. */
export function ensureSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  const known = readJson<Partial<Secrets>>(path) ?? {}
  const secrets = Object.fromEntries(names.map((name) => [name, known[name] ?? newSecret()])) as Secrets
  if (names.some((name) => known[name] === undefined)) writeJson(path, secrets)
  return secrets
}

const newSecret = () => randomBytes(32).toString('base64url')
