import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { readBase64url, readClientData } from './client-data.ts'
import { sha256 } from './secrets.ts'

/** The format of the votes that people and services sign in a protected vault (docs/signed-orders.md). */

export const voteFormat = 'strongroom-vote-2'
/** The earlier format of votes. Stored votes of this format stay verifiable, and new votes of this format are refused. */
export const earlierVoteFormat = 'strongroom-vote-1'
export const voteSubjects = ['transfer', 'payout', 'approval_request', 'authority'] as const
export const voteDecisions = ['initiate', 'approve', 'reject', 'cancel'] as const

export type Vote = {
  format: typeof voteFormat
  subject: (typeof voteSubjects)[number]
  /** The hash of the subject of the vote, in hex. */
  hash: string
  decision: (typeof voteDecisions)[number]
  /** The user id of the signer. */
  person: string
  /** The hash of the authority whose symbols and decimals the signer was shown; null when the wallet service has none. */
  authority: string | null
  /** The time by the clock of the signer. */
  signedAt: string
}

/** A stored vote, which may have the earlier format. */
export type KeptVote = Omit<Vote, 'format' | 'authority' | 'signedAt'> & {
  format: typeof voteFormat | typeof earlierVoteFormat
  authority?: string | null
  signedAt?: string
}

/** A vote with its signature. The last two fields are set for a passkey. Bytes are in base64url. */
export type SignedVote = {
  vote: Vote
  keyId: string
  signature: string
  authenticatorData?: string
  clientDataJSON?: string
}
export type KeptSignedVote = Omit<SignedVote, 'vote'> & { vote: KeptVote }

/** A key with which people vote. `publicKey` is its SPKI in DER. */
export type VotingKey =
  | { kind: 'passkey'; publicKey: Buffer; rpId: string; origins: readonly string[] }
  | { kind: 'service'; publicKey: Buffer }

export const hashOfVote = (vote: KeptVote): Buffer => sha256(canonicalJson(vote))

/** Returns SHA-256 of an SPKI in hex, which people compare. */
export const fingerprintOf = (publicKey: Buffer): string => sha256(publicKey).toString('hex')

/** Returns the origin of the page where a passkey signed, according to the browser. The signature covers it. */
export function originOf({ clientDataJSON = '' }: KeptSignedVote): string | null {
  const bytes = readBase64url(clientDataJSON)
  return bytes === null ? null : (readClientData(bytes)?.origin ?? null)
}

/** Returns true if the key signed exactly this vote. Returns false for a signature that cannot be read. */
export function isSignedBy(signed: KeptSignedVote, key: VotingKey): boolean {
  try {
    return key.kind === 'passkey' ? isAssertionOf(signed, key) : isServiceSignature(signed, key.publicKey)
  } catch {
    return false
  }
}

/** @throws for base64url in another spelling, because one signature must not have several */
function readBytes(text: string): Buffer {
  const read = readBase64url(text)
  if (read === null) throw new Error('Not base64url')
  return read
}

const isPresentAndVerified = 0x01 | 0x04
/** The length of the hash of the RP ID, the flags and the count of signatures. */
const authenticatorDataBytesMin = 37

function isAssertionOf(
  { vote, signature, authenticatorData, clientDataJSON }: KeptSignedVote,
  { publicKey, rpId, origins }: Extract<VotingKey, { kind: 'passkey' }>,
): boolean {
  if (authenticatorData === undefined || clientDataJSON === undefined) return false
  const clientData = readBytes(clientDataJSON)
  const clientFields = readClientData(clientData)
  if (clientFields?.type !== 'webauthn.get' || clientFields.challenge !== hashOfVote(vote).toString('base64url'))
    return false
  if (!origins.includes(clientFields.origin)) return false
  const data = readBytes(authenticatorData)
  if (data.length < authenticatorDataBytesMin || !data.subarray(0, 32).equals(sha256(rpId))) return false
  if ((data[32]! & isPresentAndVerified) !== isPresentAndVerified) return false
  return isSignature(readKey(publicKey), Buffer.concat([data, sha256(clientData)]), readBytes(signature))
}

function isServiceSignature({ vote, signature, ...passkey }: KeptSignedVote, publicKey: Buffer): boolean {
  if (passkey.authenticatorData !== undefined || passkey.clientDataJSON !== undefined) return false
  const key = readKey(publicKey)
  return key.asymmetricKeyType === 'ed25519' && isSignature(key, Buffer.from(canonicalJson(vote)), readBytes(signature))
}

/** @throws for a key that is neither ECDSA on P-256 nor Ed25519 */
export function readKey(publicKey: Buffer): KeyObject {
  const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
  const isP256 = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  if (!isP256 && key.asymmetricKeyType !== 'ed25519') throw new Error('Not a key that can vote')
  return key
}

const isSignature = (key: KeyObject, signed: Buffer, signature: Buffer): boolean =>
  verify(key.asymmetricKeyType === 'ec' ? 'sha256' : null, signed, key, signature)
