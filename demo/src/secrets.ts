import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

export type Secrets = { secretKey: string; walletPassphrase: string; walletToken: string; webhookSecret: string }

/** What the parts share and nobody else may know, made once for a data directory and kept in a file of its owner's. */
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
