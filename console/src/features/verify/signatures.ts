import type { VoteEvidence } from '@strongroom/sdk'
import { readClientData } from '@strongroom/sdk/signing'
import { canonicalJson, sha256, sha256Of, toBytes, toText } from '../../lib/hashes.ts'

type Fault = 'invalid' | 'other-hash' | 'other-subject'
/** `open`: this browser does not know the algorithm of the key. */
export type CheckedVote = {
  person: string
  decision: string
  fingerprint: string
  /** Of the page where it was signed; null: by a program. */
  origin: string | null
  state: 'holds' | 'fails' | 'open'
  faults: Fault[]
}

/** Checks what each person signed with the key beside it. Whose a key is, no file can say: people compare its fingerprint. */
export function verifyVotes(votes: VoteEvidence[], signedHash: string, about = 'transfer'): Promise<CheckedVote[]> {
  return Promise.all(votes.map((vote) => verifyVote(vote, signedHash, about).catch(() => unreadable)))
}

/** A file may hold anything. */
const unreadable: CheckedVote = {
  person: '',
  decision: '',
  fingerprint: '',
  origin: null,
  state: 'fails',
  faults: ['invalid'],
}

async function verifyVote({ signed, ...key }: VoteEvidence, signedHash: string, about: string): Promise<CheckedVote> {
  const { person, decision, hash, subject } = signed.vote
  const isValid = await isSigned(signed, key).catch(() => false)
  const checks: [Fault, boolean][] = [
    ['invalid', isValid !== false],
    ['other-hash', hash === signedHash],
    ['other-subject', subject === about],
  ]
  const faults = checks.filter(([, holds]) => !holds).map(([fault]) => fault)
  const state = faults.length > 0 ? 'fails' : isValid === null ? 'open' : 'holds'
  const { publicKey, origin } = key
  return { person, decision, fingerprint: await sha256Of(toBytes(publicKey)), origin, state, faults }
}

/** The hash by which the audit trail names a signed vote. */
export async function hashOfSigned(vote: VoteEvidence): Promise<string> {
  try {
    return await sha256(canonicalJson(vote.signed))
  } catch {
    return ''
  }
}

type Signed = VoteEvidence['signed']
type Key = Omit<VoteEvidence, 'signed'>

/** @returns null where the browser cannot tell */
async function isSigned(signed: Signed, { publicKey, rpId, origin }: Key): Promise<boolean | null> {
  const isPasskey = rpId !== null && origin !== null
  const bytes = isPasskey ? await bytesOfAssertion(signed, rpId, origin) : bytesOfService(signed)
  if (bytes === null) return false
  const spki = toBytes(publicKey)
  const isEd25519 = spki.length === ed25519SpkiLength
  // The key of a service is an Ed25519 key.
  if (!isEd25519 && !isPasskey) return false
  const algorithm = isEd25519 ? { name: 'Ed25519' } : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const signature = isEd25519 ? toBytes(signed.signature) : rawOfDer(toBytes(signed.signature))
  if (signature === null) return false
  try {
    const key = await crypto.subtle.importKey('spki', spki, algorithm, false, ['verify'])
    return await crypto.subtle.verify(algorithm, key, signature, bytes)
  } catch (error) {
    return isEd25519 && (error as Error).name === 'NotSupportedError' ? null : false
  }
}

const ed25519SpkiLength = 44
const isPresentAndVerified = 0x05
/** The hash of the RP ID, the flags and the count of signatures. */
const authenticatorDataLengthMin = 37

/** What a passkey signed, if it says this vote, this page, and that the person was there. */
async function bytesOfAssertion(signed: Signed, rpId: string, origin: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const { vote, authenticatorData, clientDataJSON } = signed
  if (authenticatorData === undefined || clientDataJSON === undefined) return null
  const clientData = toBytes(clientDataJSON)
  const said = readClientData(clientData)
  const challenge = toText(await digest(new TextEncoder().encode(canonicalJson(vote))))
  if (said?.type !== 'webauthn.get' || said.challenge !== challenge || said.origin !== origin) return null
  const data = toBytes(authenticatorData)
  const host = new Uint8Array(await digest(new TextEncoder().encode(rpId)))
  if (data.length < authenticatorDataLengthMin || host.some((byte, index) => data[index] !== byte)) return null
  if ((data[32]! & isPresentAndVerified) !== isPresentAndVerified) return null
  return new Uint8Array([...data, ...new Uint8Array(await digest(clientData))])
}

function bytesOfService({ vote, authenticatorData, clientDataJSON }: Signed): Uint8Array<ArrayBuffer> | null {
  if (authenticatorData !== undefined || clientDataJSON !== undefined) return null
  return new TextEncoder().encode(canonicalJson(vote))
}

const digest = (bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', bytes)

/** An ECDSA signature as WebCrypto reads it, r and s of 32 bytes each, from the DER that authenticators write. */
function rawOfDer(der: Uint8Array): Uint8Array<ArrayBuffer> | null {
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
