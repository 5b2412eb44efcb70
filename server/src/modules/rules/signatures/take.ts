import { sql } from 'kysely'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import { insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { spkiOfCose } from '../../../lib/cose.ts'
import { conflict, forbidden } from '../../../lib/errors.ts'
import { sha256 } from '../../../lib/secrets.ts'
import {
  isSignedBy,
  type KeptSignedVote,
  originOf,
  type SignedVote,
  type Vote,
  type VotingKey,
} from '../../../lib/signed-vote.ts'

/** The content that must have been signed, and the member who must have signed it. */
type Expected = Pick<Vote, 'hash' | 'decision'> & {
  subject: 'transfer' | 'payout' | 'approval_request'
  member: Member
  now: Date
  /** The end of an order that is initiated. */
  endsAt?: Date
}

/** The most by which the clock of a signer may be ahead, and the longest time of a signed order, as at the wallet service. */
const skewMilliseconds = 5 * 60_000
export const signedForMilliseconds = 30 * 86_400_000

/** Returns a key that only the authority of the vault names, for signatures on the page of the wallet service, or null. */
export type KeyElsewhere = () => VotingKey | null

/** A signed vote whose signature was verified; `hash` is what the audit trail holds of it. */
export type Verified = { signed: SignedVote; key: VotingKey; hash: string }

/**
 * Verifies that the caller signed exactly this content with a key of theirs. No challenge is needed: a signature counts for one
 * hash, one person and one decision, which happens once.
 * @throws 409 for the signature of another hash, 403 for a missing or invalid signature
 */
export async function verifySigned(
  trx: Trx,
  signed: SignedVote | undefined,
  { subject, hash, decision, member, now, endsAt }: Expected,
  origin: string,
  keyElsewhere: KeyElsewhere = () => null,
): Promise<Verified> {
  if (signed === undefined) throw signatureRequired()
  const { vote } = signed
  if (vote.hash !== hash) {
    throw conflict(
      'payload_changed',
      'The signed document differs from the one that would be carried out; read it again and compare it before you sign',
      'hash is not the hash of the document that would be carried out',
    )
  }
  if (vote.subject !== subject || vote.decision !== decision || vote.person !== member.userId)
    throw signatureRequired('The signature is for another decision, or by another person')
  const signedAt = new Date(vote.signedAt).getTime()
  if (!(signedAt <= now.getTime() + skewMilliseconds))
    throw signatureRequired('It was signed at a time that has not come yet; check the clock of the device')
  if (endsAt !== undefined && endsAt.getTime() > signedAt + signedForMilliseconds)
    throw signatureRequired('The order ends more than 30 days after it was signed')
  const keyOf = { vaultId: member.vault.id, userId: member.userId, keyId: signed.keyId }
  const key = (await findVotingKey(trx, keyOf, origin)) ?? keyElsewhere()
  if (key === null) throw signatureRequired('You have no such key')
  if (!isSignedBy(signed, key)) throw signatureRequired('The signature is not valid')
  return { signed, key, hash: hashOfSigned(signed) }
}

/**
 * Returns the key of this person or service with the id that a signed vote names; null if they have no such key.
 * @param origin the origin of the pages on which passkeys of the service sign
 */
export async function findVotingKey(
  trx: Db | Trx,
  { vaultId, userId, keyId }: { vaultId: string; userId: string; keyId: string },
  origin: string,
): Promise<VotingKey | null> {
  const { rows } = await sql<{ cose: Buffer | null; spki: Buffer | null }>`
    select public_key as cose, null::bytea as spki from passkeys
    where credential_id = ${Buffer.from(keyId, 'base64url')} and user_id = ${userId}
    union all
    select null, public_key from service_keys
    where vault_id = ${vaultId} and id = ${keyId} and user_id = ${userId} and revoked_at is null`.execute(trx)
  const row = rows[0]
  if (row === undefined) return null
  if (row.spki !== null) return { kind: 'service', publicKey: row.spki }
  return { kind: 'passkey', publicKey: spkiOfCose(row.cose!), rpId: new URL(origin).hostname, origins: [origin] }
}

export const signatureRequired = (message = 'In a protected vault, this must be signed with a key of yours') =>
  forbidden('signature_required', message)

type Kept = { vaultId: string; subjectId: string; now: Date }

/** Keeps a verified vote for good, with its key. A vote that stops an order is also sent to the wallet service. */
export async function keepSigned(trx: Trx, verified: Verified, kept: Kept): Promise<void> {
  await runParts(trx, keeping(trx, verified, kept))
}

/** SQL: the statements of `keepSigned`, to be parts of another statement. */
export function keeping(trx: Trx, { signed, key }: Verified, kept: Kept): Part[] {
  const { subject, decision, person } = signed.vote
  const vote = {
    vault_id: kept.vaultId,
    subject_type: subject,
    subject_id: kept.subjectId,
    user_id: person,
    decision,
    signed_vote: signed,
    public_key: key.publicKey,
    rp_id: key.kind === 'passkey' ? key.rpId : null,
    origin: key.kind === 'passkey' ? originOf(signed) : null,
    created_at: kept.now,
  }
  return insertsOf({ signed_votes: [vote], stops_due: stopsBy(trx, signed, kept) })
}

/** The decisions that stop an order, and the subjects that they can stop. */
const stopping = ['reject', 'cancel']
const stoppable = ['transfer', 'payout']

/** Returns the rows that send a vote that stops an order to the wallet service, where earlier votes for the order then end. */
function stopsBy(
  trx: Trx,
  { vote: { subject, decision, person } }: SignedVote,
  { vaultId, subjectId, now }: { vaultId: string; subjectId: string; now: Date },
) {
  if (!stopping.includes(decision) || !stoppable.includes(subject)) return []
  wake(trx, 'tell-stops')
  const keys = { vault_id: vaultId, subject_id: subjectId, user_id: person, decision }
  return [{ ...keys, created_at: now, next_attempt_at: now }]
}

/** Returns the hash of a signed vote in the audit trail: SHA-256 in hex of its canonical JSON. */
const hashOfSigned = (signed: KeptSignedVote): string => sha256(canonicalJson(signed)).toString('hex')

type Cancellation = { subject: 'transfer' | 'payout'; subjectId: string; hash: string; member: Member; now: Date }

/** The signature of a cancellation, if there is one. */
export type CancelSignature = { signed: SignedVote | undefined; origin: string; keyElsewhere: KeyElsewhere }

/**
 * SQL: the parts that keep the signature of a cancellation, if there is one. With a signature, earlier votes also end at the
 * wallet service.
 * @throws 403 and 409 as `verifySigned`
 */
export async function takeCancellation(
  trx: Trx,
  { signed, origin, keyElsewhere }: CancelSignature,
  { subjectId, ...expected }: Cancellation,
): Promise<Part[]> {
  if (signed === undefined) return []
  const verified = await verifySigned(trx, signed, { ...expected, decision: 'cancel' }, origin, keyElsewhere)
  return keeping(trx, verified, { vaultId: expected.member.vault.id, subjectId, now: expected.now })
}
