import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { spkiOfCose } from '../../../lib/cose.ts'
import type { KeptSignedVote, VotingKey } from '../../../lib/signed-vote.ts'
import type { VoteEvidence } from './schema.ts'

/**
 * The key of this person or service that a signed vote names; null if they have none.
 * @param origin where passkeys of the service are used
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

export type SignedVoteRow = {
  signed: KeptSignedVote
  publicKey: Buffer
  rpId: string | null
  origin: string | null
  createdAt: Date
}

/** The signed votes on a transfer or an approval request, in their order. */
export async function listSignedVotes(db: Db | Trx, vaultId: string, subjectId: string): Promise<SignedVoteRow[]> {
  const { rows } = await sql<SignedVoteRow>`
    select signed_vote as signed, public_key as "publicKey", rp_id as "rpId", origin, created_at as "createdAt"
    from signed_votes where vault_id = ${vaultId} and subject_id = ${subjectId}
    order by created_at, user_id, decision`.execute(db)
  return rows
}

export function toVoteEvidence({ publicKey, createdAt, ...row }: SignedVoteRow): Static<typeof VoteEvidence> {
  return { ...row, publicKey: publicKey.toString('base64url'), createdAt: createdAt.toISOString() }
}
