import type { Static } from 'typebox'
import { payloadReader } from '../../../http/read-payload.ts'
import { spkiOfCose } from '../../../lib/cose.ts'
import { conflict } from '../../../lib/errors.ts'
import { fingerprintOf } from '../../../lib/signed-vote.ts'
import { NewPasskey } from './schema.ts'

const readPayload = payloadReader(NewPasskey)

/** The columns of a passkey. */
export type KeyColumns = {
  id: string
  credential_id: Buffer
  public_key: Buffer
  name: string
  is_synced: boolean
  created_at: Date
  last_used_at: Date | null
}

/** A key of a person, as it is stored. */
export type NewKey = KeyColumns & { signatures: number; transports: string[] }

/** Returns a waiting key as the payload of its approval request. */
export function toPayload({ id, name, credential_id, public_key, ...key }: NewKey): Static<typeof NewPasskey> {
  return {
    passkeyId: id,
    name,
    fingerprint: fingerprintOf(spkiOfCose(public_key)),
    credentialId: credential_id.toString('base64url'),
    coseKey: public_key.toString('base64url'),
    signatures: key.signatures,
    transports: key.transports,
    isSynced: key.is_synced,
  }
}

/**
 * Reads a waiting key from its payload. @throws 400 for another payload, 409 when the fingerprint, which people
 * compare, does not match the key
 */
export function readNewKey(payload: unknown, createdAt: Date): NewKey {
  const { passkeyId, name, fingerprint, credentialId, coseKey, signatures, transports, isSynced } = readPayload(payload)
  const publicKey = Buffer.from(coseKey, 'base64url')
  if (fingerprintOf(spkiOfCose(publicKey)) !== fingerprint) {
    throw conflict('passkey_not_accepted', 'The fingerprint is not that of the key')
  }
  return {
    id: passkeyId,
    credential_id: Buffer.from(credentialId, 'base64url'),
    public_key: publicKey,
    name,
    is_synced: isSynced,
    created_at: createdAt,
    last_used_at: null,
    signatures,
    transports,
  }
}
