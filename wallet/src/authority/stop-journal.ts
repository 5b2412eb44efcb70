import type { SignedVote } from './documents.ts'
import { LineFiles } from './lines.ts'

/** A person signed that an order, or the payout with this hash, must not be carried out. */
export type Stop = Pick<SignedVote['vote'], 'hash' | 'person' | 'decision'> & { at: string }

/** An order ends 30 days after it was signed, and a clock may be wrong: a stop outlives every order that it is about. */
const keptMilliseconds = 61 * 86_400_000
/** A file with more outdated stops than this is written anew. */
const spentMax = 1_000

/** The stopped orders, in a file beside the authority of each client, so that a restored database does not revive them. */
export class StopJournal {
  readonly #files: LineFiles<Stop>

  constructor(directory: string) {
    this.#files = new LineFiles(directory, 'stopped')
  }

  /** Durably notes the stops. The caller holds the lock of the client. */
  async note(clientId: string, stops: Omit<Stop, 'at'>[], now: Date): Promise<void> {
    const entries = await this.#files.entriesOf(clientId)
    const added = stops
      .filter((stop) => !entries.some((entry) => isSame(entry, stop)))
      .map((stop) => ({ ...stop, at: now.toISOString() }))
    if (added.length === 0) return
    const live = entries.filter(({ at }) => Date.parse(at) > now.getTime() - keptMilliseconds)
    if (entries.length - live.length > spentMax) await this.#files.replace(clientId, [...live, ...added])
    else await this.#files.append(clientId, added)
  }

  async find(clientId: string, hashes: string[]): Promise<Stop[]> {
    return (await this.#files.entriesOf(clientId)).filter(({ hash }) => hashes.includes(hash))
  }
}

const isSame = (stop: Omit<Stop, 'at'>, other: Omit<Stop, 'at'>) =>
  stop.hash === other.hash && stop.person === other.person && stop.decision === other.decision
