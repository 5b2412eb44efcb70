import type { SignedVote } from './documents.ts'
import { LineFiles } from './lines.ts'

/** Votes against the version that waits, in a file beside the authority of each client, until enough people have signed. */
export class RejectionFiles {
  readonly #files: LineFiles<SignedVote>

  constructor(directory: string) {
    this.#files = new LineFiles(directory, 'rejected')
  }

  /** Keeps one vote of each person, and forgets those against earlier versions. The caller holds the lock of the client. */
  async note(clientId: string, signed: SignedVote): Promise<void> {
    const { hash, person } = signed.vote
    const others = (await this.find(clientId, hash)).filter(({ vote }) => vote.person !== person)
    await this.#files.replace(clientId, [...others, signed])
  }

  async find(clientId: string, hash: string): Promise<SignedVote[]> {
    return (await this.#files.entriesOf(clientId)).filter(({ vote }) => vote?.hash === hash)
  }
}
