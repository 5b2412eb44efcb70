import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import type { KeptSignedVote } from '../../../lib/signed-vote.ts'
import type { VoteEvidence } from './schema.ts'

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
