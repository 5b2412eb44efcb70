import { canonicalJson } from '../signing/canonical.ts'
import { readClientData } from '../signing/client-data.ts'
import { type Bytes, digest, fromBase64url, isSignature, sha256, toBase64url, toHex, utf8 } from './bytes.ts'
import type { SignedVoteEvidence } from './evidence.ts'

export type VoteFault = 'invalid' | 'other-hash' | 'other-subject' | 'other-key'

/** A signed vote after its check. */
export interface CheckedVote {
  person: string
  decision: string
  /** SHA-256 of the key in hex. People compare it, because no file can prove the owner of a key. */
  fingerprint: string
  /** The origin of the page where it was signed; null if a program signed it. */
  origin: string | null
  /** `open`: this platform does not know the algorithm of the key, or the request binds no differences. */
  state: 'holds' | 'fails' | 'open'
  faults: VoteFault[]
}

/**
 * The subject and the hash that each vote must have, and the fingerprints of trusted keys. With an empty list, every
 * key counts.
 */
export type ExpectedVote = { subject: string; hash: string; trusted: readonly string[] }

/** Checks each vote with the key beside it. */
export function checkVotes(votes: readonly SignedVoteEvidence[], expected: ExpectedVote): Promise<CheckedVote[]> {
  return Promise.all(votes.map((vote) => checkVote(vote, expected).catch(() => unreadable)))
}

const unreadable: CheckedVote = {
  person: '',
  decision: '',
  fingerprint: '',
  origin: null,
  state: 'fails',
  faults: ['invalid'],
}

async function checkVote(
  { signed, ...key }: SignedVoteEvidence,
  { subject, hash, trusted }: ExpectedVote,
): Promise<CheckedVote> {
  const { vote } = signed
  const fingerprint = toHex(await digest(fromBase64url(key.publicKey)))
  const isValid = await isSigned(signed, key).catch(() => false)
  const checks: [VoteFault, boolean][] = [
    ['invalid', isValid !== false],
    ['other-hash', vote.hash === hash],
    ['other-subject', vote.subject === subject],
    ['other-key', trusted.length === 0 || trusted.includes(fingerprint)],
  ]
  const faults = checks.filter(([, holds]) => !holds).map(([fault]) => fault)
  const state = faults.length > 0 ? 'fails' : isValid === null ? 'open' : 'holds'
  return { person: vote.person, decision: vote.decision, fingerprint, origin: key.origin, state, faults }
}

/** Returns the hash by which the audit log names a signed vote, or '' for a vote without a canonical form. */
export async function hashOfSigned({ signed }: SignedVoteEvidence): Promise<string> {
  try {
    return await sha256(canonicalJson(signed))
  } catch {
    return ''
  }
}

type Signed = SignedVoteEvidence['signed']
type Key = Omit<SignedVoteEvidence, 'signed'>

/** Returns null if the platform cannot check the signature. */
async function isSigned(signed: Signed, { publicKey, rpId, origin }: Key): Promise<boolean | null> {
  const isPasskey = rpId !== null && origin !== null
  if (!isPasskey && (rpId !== null || origin !== null)) return false
  const bytes = isPasskey ? await bytesOfAssertion(signed, rpId, origin) : bytesOfService(signed)
  if (bytes === null) return false
  const key = fromBase64url(publicKey)
  const isEd25519 = key.length === 44
  // The key of a service is an Ed25519 key.
  if (!isEd25519 && (!isPasskey || key.length < 44)) return false
  const signature = isEd25519 ? fromBase64url(signed.signature) : rawOfDer(fromBase64url(signed.signature))
  return signature === null ? false : isSignature(key, signature, bytes)
}

const isPresentAndVerified = 0x05
/** The hash of the RP ID, the flags and the count of signatures. */
const authenticatorDataLengthMin = 37

/**
 * Returns the bytes that a passkey signed. Returns null unless they name this vote and this page, and say that the
 * person was verified.
 */
async function bytesOfAssertion(signed: Signed, rpId: string, origin: string): Promise<Bytes | null> {
  const { vote, authenticatorData, clientDataJSON } = signed
  if (authenticatorData === undefined || clientDataJSON === undefined) return null
  const clientData = fromBase64url(clientDataJSON)
  const parsed = readClientData(clientData)
  const challenge = toBase64url(await digest(utf8(canonicalJson(vote))))
  if (parsed?.type !== 'webauthn.get' || parsed.challenge !== challenge || parsed.origin !== origin) return null
  const data = fromBase64url(authenticatorData)
  const host = await digest(utf8(rpId))
  if (data.length < authenticatorDataLengthMin || host.some((byte, index) => data[index] !== byte)) return null
  if ((data[32]! & isPresentAndVerified) !== isPresentAndVerified) return null
  return new Uint8Array([...data, ...(await digest(clientData))])
}

function bytesOfService({ vote, authenticatorData, clientDataJSON }: Signed): Bytes | null {
  return authenticatorData === undefined && clientDataJSON === undefined ? utf8(canonicalJson(vote)) : null
}

/**
 * Converts an ECDSA signature from the DER that authenticators write to the form of WebCrypto: r and s of 32 bytes
 * each.
 */
function rawOfDer(der: Uint8Array): Bytes | null {
  const raw = new Uint8Array(64)
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null
  let at = 2
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    const number = der.slice(at + 2, at + 2 + length)
    if (der[at] !== 0x02 || number.length !== length) return null
    const digits = number[0] === 0 ? number.slice(1) : number
    if (digits.length > 32) return null
    raw.set(digits, end - digits.length)
    at += 2 + length
  }
  return at === der.length ? raw : null
}
