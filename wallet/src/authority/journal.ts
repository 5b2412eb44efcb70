import { LineFiles } from './lines.ts'

/** A signed order. The entry prevents that the same order is signed with another nonce. */
type Entry = {
  /** Hash of the signed order. */
  order: string
  nonce: number
  network: string
  contractAddress: string | null
  amount: string
  at: string
  expiresAt: string
  /** The highest fee of a transaction of the order; absent from entries of earlier releases. */
  maxFee?: string
}

/** `fee`: the highest fee of the transaction that is about to be signed. */
export type Claim = Omit<Entry, 'at' | 'maxFee'> & { perDay: string | null; maxFee: string; fee: bigint }

const dayMilliseconds = 86_400_000
/** The time for which entries are kept, so that a restored database cannot make the service sign an order again. */
const keptDays = 30
/** A file with more outdated entries than this is written anew. */
const spentMax = 1_000

/**
 * The signed orders of protected clients, in a file beside the authority of each client. An attacker who writes to the database
 * can hide a signed order or change its day there, but not in this file.
 */
export class SigningJournal {
  readonly #files: LineFiles<Entry>

  constructor(directory: string) {
    this.#files = new LineFiles(directory, 'signed')
  }

  /**
   * Durably notes that the order is about to be signed with the nonce, or returns the reason to wait. The caller holds the lock
   * of the journal. The same nonce is the same payment, as after a crash or for a replacement, and has the same fee limit.
   */
  async claim(clientId: string, { perDay, fee, ...claimed }: Claim, now: Date): Promise<string | null> {
    const entries = await this.#files.entriesOf(clientId)
    const earlier = latestOf(entries, claimed.order)
    if (earlier !== undefined && earlier.nonce !== claimed.nonce)
      return `ALREADY_SIGNED: the order was signed with the nonce ${earlier.nonce}, and it may have been mined`
    const maxFee = earlier?.maxFee ?? claimed.maxFee
    if (fee > BigInt(maxFee)) return aboveFeeLimit(maxFee)
    if (earlier !== undefined) {
      if (earlier.maxFee === undefined) await this.#files.append(clientId, [{ ...earlier, maxFee }])
      return null
    }
    const since = now.getTime() - dayMilliseconds
    const ofDay = entries
      .filter((entry) => entry.network === claimed.network && entry.contractAddress === claimed.contractAddress)
      .filter(({ at }) => Date.parse(at) > since)
    const signed = [...new Map(ofDay.map((entry) => [entry.order, entry])).values()].reduce(
      (sum, { amount }) => sum + BigInt(amount),
      0n,
    )
    if (perDay !== null && signed + BigInt(claimed.amount) > BigInt(perDay)) {
      return `PER_DAY_EXCEEDED: ${signed} of ${perDay} were signed within 24 hours`
    }
    const entry = { ...claimed, at: now.toISOString() }
    const keptSince = now.getTime() - keptDays * dayMilliseconds
    const live = entries.filter(({ at, expiresAt }) => Math.max(Date.parse(at), Date.parse(expiresAt)) > keptSince)
    if (entries.length - live.length > spentMax) await this.#files.replace(clientId, [...live, entry])
    else await this.#files.append(clientId, [entry])
    return null
  }

  /** Returns true if the order was signed, or was about to be signed. */
  async has(clientId: string, order: string): Promise<boolean> {
    return (await this.find(clientId, order)) !== null
  }

  /** Finds the nonce and the fee limit of an order that was signed or about to be signed; null for another order. */
  async find(clientId: string, order: string): Promise<Pick<Entry, 'nonce' | 'maxFee'> | null> {
    return latestOf(await this.#files.entriesOf(clientId), order) ?? null
  }
}

export const aboveFeeLimit = (limit: string) =>
  `ABOVE_MAX_FEE: people signed that at most ${limit} are paid in fees, or it is the limit of an order without maxFee`

/** A later entry of an order completes the earlier entry, so the latest entry counts. */
const latestOf = (entries: Entry[], order: string) => entries.findLast((entry) => entry.order === order)
