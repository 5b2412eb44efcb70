import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

export type Secrets = { secretKey: string; walletPassphrase: string; walletToken: string; webhookSecret: string }

/** The secrets that the parts share, created once for a data directory and stored in a file that only its owner can read. */
export function ensureSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  const known = readJson<Secrets>(path)
  if (known !== null) return known
  const secrets = {
    secretKey: newSecret(),
    walletPassphrase: newSecret(),
    walletToken: newSecret(),
    webhookSecret: newSecret(),
  }
  writeJson(path, secrets)
  return secrets
}

const newSecret = () => randomBytes(32).toString('base64url')
