import { type Vote, voteFormat } from '../lib/signed-vote.ts'

/** A vote as a page makes it, by default where the wallet service has no authority. */
export const newVote = (about: Pick<Vote, 'subject' | 'hash' | 'decision' | 'person'> & Partial<Vote>): Vote => ({
  format: voteFormat,
  authority: null,
  signedAt: new Date().toISOString(),
  ...about,
})
