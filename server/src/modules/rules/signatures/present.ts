import type { Static } from 'typebox'
import type { SignedVoteRow } from './queries.ts'
import type { VoteEvidence } from './schema.ts'

export function toVoteEvidence({ publicKey, createdAt, ...row }: SignedVoteRow): Static<typeof VoteEvidence> {
  return { ...row, publicKey: publicKey.toString('base64url'), createdAt: createdAt.toISOString() }
}
