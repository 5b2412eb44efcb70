import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf } from './canonical.ts'
import { refusalOfKept } from './decide.ts'
import type { AnyAuthority, Authority } from './documents.ts'
import { SigningJournal } from './journal.ts'
import { parseKept } from './parse.ts'
import { toText } from './refusal.ts'

/** The present authority of a client. */
export type Present = { authority: AnyAuthority; version: number; hash: string }

/** All versions of an authority, oldest first, each after the first with the votes of the version before. */
type Chain = { versions: { authority: unknown; votes: unknown }[] }

/** The authority of a client cannot be established, so nothing may be signed for it until an operator has helped. */
export class AuthorityUnavailableError extends Error {}

/**
 * The authorities of clients, one file each, in a directory that no restore of the database reaches. A file has every
 * version with its signatures, and each version is verified against the one before when it is read.
 */
export class AuthorityStore {
  readonly journal: SigningJournal
  readonly #directory: string
  /** Verified content by client; read again when the file has changed. */
  readonly #read = new Map<string, { stamp: string; chain: Chain; hashes: string[]; present: Present }>()

  constructor(directory: string) {
    this.#directory = directory
    this.journal = new SigningJournal(directory)
  }

  /** @throws AuthorityUnavailableError when the file is there and is not what this service wrote */
  async read(clientId: string): Promise<Present | null> {
    return (await this.#load(clientId))?.present ?? null
  }

  /** The hash of that version; null when the file has no such version. */
  async hashOfVersion(clientId: string, version: number): Promise<string | null> {
    return (await this.#load(clientId))?.hashes[version - 1] ?? null
  }

  /** Writes the first version; the caller has made sure that there is none. */
  async pin(clientId: string, authority: Authority): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#write(clientId, { versions: [{ authority, votes: [] }] })
  }

  /** Writes a version after the present one; the caller has verified it and holds the lock of the client. */
  async append(clientId: string, authority: Authority, votes: unknown): Promise<void> {
    const loaded = await this.#load(clientId)
    if (loaded === null) throw new AuthorityUnavailableError('the client has no authority file')
    await this.#write(clientId, { versions: [...loaded.chain.versions, { authority, votes }] })
  }

  async #load(clientId: string) {
    try {
      const known = this.#read.get(clientId)
      const stamp = await this.#stampOf(clientId)
      if (stamp === null) {
        if (known !== undefined) throw new Error('the file is gone')
        return null
      }
      if (known?.stamp === stamp) return known
      const loaded = { stamp, ...verifyChain(JSON.parse(await readFile(this.#fileOf(clientId), 'utf8'))) }
      const isContinued = known?.hashes.every((hash, index) => loaded.hashes[index] === hash) ?? true
      if (!isContinued) throw new Error('the file has gone back, or its past has changed')
      this.#read.set(clientId, loaded)
      return loaded
    } catch (error) {
      const { message } = error as Error
      throw new AuthorityUnavailableError(`the authority file of the client cannot be used: ${message}`)
    }
  }

  async #stampOf(clientId: string): Promise<string | null> {
    try {
      const { ino, size, mtimeNs } = await stat(this.#fileOf(clientId), { bigint: true })
      return `${ino} ${size} ${mtimeNs}`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  /** Complete and durable before anybody can read it: a crash leaves the old file or the new one. */
  async #write(clientId: string, chain: Chain): Promise<void> {
    const file = this.#fileOf(clientId)
    const temporary = `${file}.${process.pid}.tmp`
    const handle = await open(temporary, 'w', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ format: fileFormat, ...chain }, null, 1)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
    const directory = await open(this.#directory, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  }

  #fileOf(clientId: string): string {
    // Ids of clients are of the type uuid; anything else would be a path.
    if (!/^[0-9a-f-]{36}$/.test(clientId)) throw new Error('the id of the client is no UUID')
    return join(this.#directory, `${clientId}.json`)
  }
}

/** null without a directory. One that is missing may be a mount that failed: protection must not end with it. */
export async function openAuthorities(directory: string | undefined): Promise<AuthorityStore | null> {
  if (directory === undefined) return null
  const found = await stat(directory).catch(() => null)
  if (!found?.isDirectory()) throw new AuthorityUnavailableError('AUTHORITY_DIR is not a directory that can be read')
  return new AuthorityStore(directory)
}

const fileFormat = 'strongroom-authorities-1'

function verifyChain(content: unknown): { chain: Chain; hashes: string[]; present: Present } {
  const chain = content as Chain & { format?: unknown }
  if (chain?.format !== fileFormat || !Array.isArray(chain.versions)) throw new Error('it has another format')
  const hashes: string[] = []
  let present: Present | undefined
  for (const kept of chain.versions) {
    const { authority } = parseKept(kept)
    if (present === undefined && authority.version !== 1) throw new Error('it does not begin with version 1')
    const refused = present === undefined ? null : refusalOfKept(present.authority, kept)
    if (refused !== null) throw new Error(`version ${authority.version}: ${toText(refused)}`)
    present = { authority, version: authority.version, hash: hashOf(authority) }
    hashes.push(present.hash)
  }
  if (present === undefined) throw new Error('it has no version')
  return { chain, hashes, present }
}
