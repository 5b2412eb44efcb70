import { canonicalJson } from './lib/canonical-json.ts'
import { sha256 } from './lib/secrets.ts'
import { isAtPlace, type Place, type SignedOrder } from './lib/signed-payout.ts'
import { fingerprintOf, isSignedBy, type KeptSignedVote, type VotingKey } from './lib/signed-vote.ts'

/** What evidence of a transfer, or an approval request as GET answers it, holds of what people signed. */
export type SignedEvidence = {
  payload?: object
  boundPayload?: object
  payloadHash: string
  signedVotes?: { signed: KeptSignedVote; publicKey: string; rpId: string | null; origin: string | null }[]
  auditRecords?: { content: string; hash: string }[]
  /** Of a row of a payout: what was signed, and where in it the row is. */
  batch?: Place
}

/** `origin`: of the page where it was signed; null: by a program. */
export type CheckedVote = {
  person: string
  decision: string
  fingerprint: string
  origin: string | null
  faults: string[]
}
export type EvidenceReport = { votes: CheckedVote[]; faults: string[] }

/**
 * Checks a file by itself: whether its hash is that of what it shows, and each signature is by the key beside it, for that hash.
 * Whose a key is, no file can say: `trusted` are the fingerprints that people compared, or that the wallet service shows.
 */
export function verifySignatures(evidence: SignedEvidence, trusted: readonly string[]): EvidenceReport {
  const { payloadHash, signedVotes = [], auditRecords = [], batch } = evidence
  const single = evidence.boundPayload === undefined ? 'transfer' : 'approval_request'
  const subject = batch === undefined ? single : 'payout'
  // A request also has a `payload`, which is a part of what was voted on.
  const hash = sha256(canonicalJson(evidence.boundPayload ?? evidence.payload)).toString('hex')
  const faults = hash === payloadHash ? [] : [`payloadHash is ${payloadHash}, and the hash of what is shown ${hash}`]
  if (batch !== undefined && !isAtPlace(evidence.payload as SignedOrder, batch))
    faults.push('the order is not the row of the payout that people signed')
  const signedHash = batch === undefined ? payloadHash : sha256(canonicalJson(batch.payout)).toString('hex')
  const votes = signedVotes.map(({ signed, publicKey, rpId, origin }): CheckedVote => {
    const { vote } = signed
    const spki = Buffer.from(publicKey, 'base64url')
    const fingerprint = fingerprintOf(spki)
    const key: VotingKey =
      rpId === null || origin === null
        ? { kind: 'service', publicKey: spki }
        : { kind: 'passkey', publicKey: spki, rpId, origins: [origin] }
    const checks: [string, boolean][] = [
      ['the signature is not valid', isSignedBy(signed, key)],
      ['it is for another hash', vote.hash === signedHash],
      ['it is for something else', vote.subject === subject],
      ['its key is not one of those named', trusted.length === 0 || trusted.includes(fingerprint)],
    ]
    const found = checks.filter(([, holds]) => !holds).map(([fault]) => fault)
    return { person: vote.person, decision: vote.decision, fingerprint, origin, faults: found }
  })
  return { votes, faults: [...faults, ...missingFaults(signedVotes, auditRecords)] }
}

/** The audit trail names the hash of each signed vote: one that is not in the file was left out of it. */
function missingFaults(
  signedVotes: NonNullable<SignedEvidence['signedVotes']>,
  records: NonNullable<SignedEvidence['auditRecords']>,
): string[] {
  const present = new Set(signedVotes.map(({ signed }) => sha256(canonicalJson(signed)).toString('hex')))
  return records.flatMap(({ content, hash }) => {
    if (sha256(content).toString('hex') !== hash) return [`an audit record has another hash than ${hash}`]
    const { action, details } = JSON.parse(content) as { action: string; details?: { signedVote?: string } }
    const named = details?.signedVote
    return named === undefined || present.has(named) ? [] : [`${action} names a signed vote that is not here`]
  })
}

/** For people: a line for each vote, and what is wrong. */
export function printReport({ votes, faults }: EvidenceReport): { lines: string[]; isSound: boolean } {
  const lines = votes.map(({ person, decision, fingerprint, origin, faults: found }) => {
    const place = origin === null ? '' : ` at ${origin}`
    const line = `${found.length === 0 ? 'ok  ' : 'FAIL'} ${decision} by ${person} with the key ${fingerprint}${place}`
    return [line, ...found].join('; ')
  })
  const isSound = faults.length === 0 && votes.length > 0 && votes.every((vote) => vote.faults.length === 0)
  const rest = votes.length === 0 ? ['Nothing here was signed'] : []
  return { lines: [...lines, ...faults.map((fault) => `FAIL ${fault}`), ...rest], isSound }
}
