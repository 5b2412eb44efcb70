import { open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** An order that was signed: with it the same one is never signed with another nonce. */
type Entry = {
  /** Hash of the signed order. */
  order: string
  nonce: number
  network: string
  contractAddress: string | null
  amount: string
  at: string
  expiresAt: string
  /** The most that any transaction of the order may pay in fees; absent from entries of earlier releases. */
  maxFee?: string
}

/** `fee`: the most that the transaction pays which is about to be signed. */
export type Claim = Omit<Entry, 'at' | 'maxFee'> & { perDay: string | null; maxFee: string; fee: bigint }

const dayMilliseconds = 86_400_000
/** A database that was restored asks for orders of so many days again, which must not look as if they had never been signed. */
const keptDays = 30
/** A file with more than this many entries that matter no longer is written anew. */
const spentMax = 1_000

/**
 * What was signed for protected clients, in a file beside the authority of each. Somebody who writes to the database can make an
 * order look as if it had never been signed, or orders as if they were of another day; this is where they cannot.
 */
export class SigningJournal {
  readonly #directory: string
  /** By client, read again when the file has changed. */
  readonly #read = new Map<string, { stamp: string; entries: Entry[] }>()

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Notes that the order is about to be signed with the nonce, durably, or says why it must wait. The caller holds the lock
   * of the client. The same nonce again is the same payment, as after a crash or for a replacement: it keeps to the limit of
   * the fee that the first one had.
   */
  async claim(clientId: string, { perDay, fee, ...claimed }: Claim, now: Date): Promise<string | null> {
    const file = this.#fileOf(clientId)
    const entries = await this.#entriesOf(clientId)
    const earlier = latestOf(entries, claimed.order)
    if (earlier !== undefined && earlier.nonce !== claimed.nonce)
      return `ALREADY_SIGNED: the order was signed with the nonce ${earlier.nonce}, and it may have been mined`
    const maxFee = earlier?.maxFee ?? claimed.maxFee
    if (fee > BigInt(maxFee)) return aboveFeeLimit(maxFee)
    if (earlier !== undefined) {
      if (earlier.maxFee === undefined) await append(file, [{ ...earlier, maxFee }])
      return null
    }
    const since = now.getTime() - dayMilliseconds
    const signed = entries
      .filter((one) => one.network === claimed.network && one.contractAddress === claimed.contractAddress)
      .filter(({ at }) => Date.parse(at) > since)
      .filter((one) => latestOf(entries, one.order) === one)
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    if (perDay !== null && signed + BigInt(claimed.amount) > BigInt(perDay)) {
      return `PER_DAY_EXCEEDED: ${signed} of ${perDay} were signed within 24 hours`
    }
    const entry = { ...claimed, at: now.toISOString() }
    const keptSince = now.getTime() - keptDays * dayMilliseconds
    const live = entries.filter(({ at, expiresAt }) => Math.max(Date.parse(at), Date.parse(expiresAt)) > keptSince)
    if (entries.length - live.length > spentMax) await replace(file, [...live, entry])
    else await append(file, [entry])
    return null
  }

  /** Whether the order was signed, or was about to be. */
  async has(clientId: string, order: string): Promise<boolean> {
    return (await this.find(clientId, order)) !== null
  }

  /** With which nonce and up to which fee the order was signed, or was about to be; null: it was not. */
  async find(clientId: string, order: string): Promise<Pick<Entry, 'nonce' | 'maxFee'> | null> {
    return latestOf(await this.#entriesOf(clientId), order) ?? null
  }

  async #entriesOf(clientId: string): Promise<Entry[]> {
    const file = this.#fileOf(clientId)
    const stamp = await stampOf(file)
    if (stamp === null) return []
    const known = this.#read.get(clientId)
    if (known?.stamp === stamp) return known.entries
    const entries = await readEntries(file)
    this.#read.set(clientId, { stamp, entries })
    return entries
  }

  #fileOf(clientId: string): string {
    return join(this.#directory, `${clientId}.signed`)
  }
}

export const aboveFeeLimit = (limit: string) =>
  `ABOVE_MAX_FEE: people signed that at most ${limit} are paid in fees, or it is the limit of an order without maxFee`

/** A line that adds to an earlier one comes after it. */
const latestOf = (entries: Entry[], order: string) => entries.findLast((entry) => entry.order === order)

async function stampOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** A line that a crash cut off was not followed by a signature. */
async function readEntries(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry]
    } catch {
      return []
    }
  })
}

/** Every entry begins a line of its own, also after one that was cut off. */
const toLines = (entries: Entry[]) => entries.map((entry) => `\n${JSON.stringify(entry)}`).join('')

async function append(file: string, entries: Entry[]): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.writeFile(toLines(entries))
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function replace(file: string, entries: Entry[]): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(toLines(entries))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
