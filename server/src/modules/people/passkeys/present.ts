import { spkiOfCose } from '../../../lib/cose.ts'
import { fingerprintOf } from '../../../lib/signed-vote.ts'
import type { PasskeyRow } from './queries.ts'
import type { Passkey } from './schema.ts'

export function toPasskey(row: PasskeyRow): Passkey {
  const publicKey = spkiOfCose(row.public_key)
  return {
    id: row.id,
    credentialId: row.credential_id.toString('base64url'),
    name: row.name,
    isSynced: row.is_synced,
    publicKey: publicKey.toString('base64url'),
    fingerprint: fingerprintOf(publicKey),
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    waitsFor: row.waitsFor,
  }
}
