import { canonicalJson } from '../lib/canonical-json.ts'
import { sha256 } from '../lib/secrets.ts'
import type { Authenticator } from './authenticator.ts'

export type AuthorityKey = { person: string; key: Pick<Authenticator, 'id' | 'publicKey' | 'origin'> }

/** Returns the answer of a wallet service whose authority has these passkeys, each for its own origin. */
export function authorityAnswer(vaultId: string, keys: AuthorityKey[], version = 1, changes: object = {}) {
  const authority = {
    format: 'strongroom-authority-2',
    vaultId,
    version,
    previous: version === 1 ? null : '0'.repeat(64),
    keys: keys.map(({ person, key }) => ({
      id: key.id.toString('base64url'),
      person,
      name: 'Phone',
      kind: 'passkey',
      publicKey: key.publicKey.toString('base64url'),
      rpId: new URL(key.origin).hostname,
      origins: [key.origin],
    })),
    groups: [{ id: 'treasurers', persons: [...new Set(keys.map(({ person }) => person))] }],
    addresses: [],
    change: { group: 'treasurers', votes: 1 },
    trustsServicePage: true,
    delayHours: 0,
    contacts: [],
    rules: [],
    ...changes,
  }
  return { authority, version, hash: sha256(canonicalJson(authority)).toString('hex') }
}
