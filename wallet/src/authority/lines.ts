import { open, readFile, rename, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { syncDirectory } from './sync-directory.ts'
import { AuthorityUnavailableError } from './unavailable.ts'

/**
 * A file of a client with an entry in each line, beside its authority. Added entries are durable when the call returns. A line
 * that a crash cut off is skipped; a line with another value than an entry makes the file unusable.
 */
export class LineFiles<Entry> {
  readonly #directory: string
  readonly #suffix: string
  /** By client, read again when the file has changed. */
  readonly #read = new Map<string, { stamp: string; entries: Entry[] }>()
  /** The clients whose file has a durable name. */
  readonly #named = new Set<string>()

  constructor(directory: string, suffix: string) {
    this.#directory = directory
    this.#suffix = suffix
  }

  async entriesOf(clientId: string): Promise<Entry[]> {
    const file = this.#fileOf(clientId)
    const stamp = await stampOf(file)
    if (stamp === null) return []
    const known = this.#read.get(clientId)
    if (known?.stamp === stamp) return known.entries
    const entries = await readEntries<Entry>(file)
    this.#read.set(clientId, { stamp, entries })
    return entries
  }

  async append(clientId: string, entries: Entry[]): Promise<void> {
    const handle = await open(this.#fileOf(clientId), 'a', 0o600)
    try {
      await handle.writeFile(toLines(entries))
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (this.#named.has(clientId)) return
    await syncDirectory(this.#directory)
    this.#named.add(clientId)
  }

  async replace(clientId: string, entries: Entry[]): Promise<void> {
    const file = this.#fileOf(clientId)
    const temporary = `${file}.${process.pid}.tmp`
    const handle = await open(temporary, 'w', 0o600)
    try {
      await handle.writeFile(toLines(entries))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
    await syncDirectory(this.#directory)
    this.#named.add(clientId)
  }

  #fileOf(clientId: string): string {
    return join(this.#directory, `${clientId}.${this.#suffix}`)
  }
}

async function stampOf(file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Skips a line that a crash cut off; the entry after it begins a line of its own. @throws AuthorityUnavailableError */
async function readEntries<Entry>(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8')
  return text.split('\n').flatMap((line, index) => {
    const entry = parsed(line)
    if (entry === undefined) return []
    if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return [entry as Entry]
    throw new AuthorityUnavailableError(`line ${index + 1} of ${basename(file)} is not an entry`)
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const toLines = (entries: unknown[]) => entries.map((entry) => `\n${JSON.stringify(entry)}`).join('')
