import { type Vote, voteFormat } from '../lib/signed-vote.ts'

/** Returns a vote as a page makes it, by default for a wallet service without an authority. */
export const newVote = (about: Pick<Vote, 'subject' | 'hash' | 'decision' | 'person'> & Partial<Vote>): Vote => ({
  format: voteFormat,
  authority: null,
  signedAt: new Date().toISOString(),
  ...about,
})
