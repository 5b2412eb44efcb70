import { createHash, type KeyObject, verify } from 'node:crypto'
import { canonicalForm } from './canonical.ts'
import { readClientData } from './client-data.ts'
import type { AnySignedVote, AuthorityKey } from './documents.ts'
import { type KeyAlgorithm, readBase64url, readPublicKey } from './public-key.ts'

const flagUserPresent = 0x01
const flagUserVerified = 0x04
/** RP ID hash, flags and counter; extensions may follow. */
const authenticatorDataLengthMin = 37

/** Verifies that the key signed exactly this vote: a passkey as WebAuthn Level 2 has it (section 7.2), a service by Ed25519. */
export function isSignedBy(key: AuthorityKey, signed: AnySignedVote): boolean {
  const publicKey = readPublicKey(key.publicKey)
  const signature = readBase64url(signed.signature)
  if (publicKey === null || signature === null) return false
  const message = Buffer.from(canonicalForm(signed.vote))
  if (key.kind === 'service') {
    if (signed.authenticatorData !== undefined || signed.clientDataJSON !== undefined) return false
    return isSignature(publicKey, message, signature)
  }
  const assertion = readAssertion(key, signed, sha256(message).toString('base64url'))
  return assertion !== null && isSignature(publicKey, assertion, signature)
}

/** Returns the bytes that the authenticator signed; null when the origin, the challenge, the RP ID or a flag is not as expected. */
function readAssertion(
  { rpId, origins }: Extract<AuthorityKey, { kind: 'passkey' }>,
  { authenticatorData, clientDataJSON }: AnySignedVote,
  challenge: string,
): Buffer | null {
  const authenticator = readBase64url(authenticatorData ?? '')
  const client = readBase64url(clientDataJSON ?? '')
  if (authenticator === null || client === null || authenticator.length < authenticatorDataLengthMin) return null
  const data = readClientData(client)
  if (data === null || data.type !== 'webauthn.get' || data.challenge !== challenge) return null
  if (!origins.includes(data.origin)) return null
  if (!authenticator.subarray(0, 32).equals(sha256(rpId))) return null
  const flags = authenticator[32]!
  if ((flags & flagUserPresent) === 0 || (flags & flagUserVerified) === 0) return null
  return Buffer.concat([authenticator, sha256(client)])
}

function isSignature({ algorithm, key }: { algorithm: KeyAlgorithm; key: KeyObject }, data: Buffer, signature: Buffer) {
  try {
    return verify(algorithm === 'es256' ? 'sha256' : null, data, key, signature)
  } catch {
    return false
  }
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
