import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf } from './canonical.ts'
import { refusalOfKept } from './decide.ts'
import type { AnyAuthority, Authority } from './documents.ts'
import { SigningJournal } from './journal.ts'
import { parseKept } from './parse.ts'
import { toText } from './refusal.ts'
import { RejectionFiles } from './rejections.ts'
import { StopJournal } from './stop-journal.ts'
import { syncDirectory } from './sync-directory.ts'
import { ToldFiles } from './told.ts'
import { AuthorityUnavailableError } from './unavailable.ts'

/** The present authority of a client. */
export type Present = { authority: AnyAuthority; version: number; hash: string }

/** A version that was signed and waits, with the persons who signed it. */
export type Pending = Present & { inForceAt: string; signedBy: string[] }

/** The version in force and the version that waits. */
export type Shown = Present & { pending: Pending | null }

/** A version that was signed, and the one before it. */
export type Change = { before: AnyAuthority; next: Present; inForceAt: string }

/** A version with the votes by keys of the version before. Without `inForceAt`, it came into force at once. */
type Link = { authority: unknown; votes: unknown; inForceAt?: string }
type Cancelled = { hash: string; votes: unknown; at: string }

/** All versions of an authority, oldest first, and the cancelled versions. Only the last version may wait. */
type Chain = { versions: Link[]; cancelled?: Cancelled[] }

type Loaded = { stamp: string; chain: Chain; links: { present: Present; inForceAt: number }[] }

export { AuthorityUnavailableError }

/**
 * The authorities of clients, one file each, in a directory that no restore of the database reaches. A file has every
 * version with its signatures, and each version is verified against the one before when it is read.
 */
export class AuthorityStore {
  readonly journal: SigningJournal
  readonly stops: StopJournal
  readonly rejections: RejectionFiles
  readonly told: ToldFiles
  readonly #directory: string
  /** Verified content by client; read again when the file has changed. */
  readonly #read = new Map<string, Loaded>()

  constructor(directory: string) {
    this.#directory = directory
    this.journal = new SigningJournal(directory)
    this.stops = new StopJournal(directory)
    this.rejections = new RejectionFiles(directory)
    this.told = new ToldFiles(directory)
  }

  /** Reads the version in force; null without a file. @throws AuthorityUnavailableError when the file fails its checks */
  async read(clientId: string): Promise<Present | null> {
    const loaded = await this.#load(clientId)
    return loaded === null ? null : inForceOf(loaded).at(-1)!.present
  }

  /** Reads the version in force and the waiting version at the same instant; null without a file. */
  async readShown(clientId: string): Promise<Shown | null> {
    const loaded = await this.#load(clientId)
    if (loaded === null) return null
    const inForce = inForceOf(loaded)
    return { ...inForce.at(-1)!.present, pending: pendingOf(loaded, inForce.length) }
  }

  /** Lists the versions that wait, or came into force after `since`. Version 1 and versions of earlier releases have no such time. */
  async listChanges(clientId: string, since: number): Promise<Change[]> {
    const links = (await this.#load(clientId))?.links ?? []
    return links.flatMap(({ present, inForceAt }, index) => {
      const before = links[index - 1]?.present.authority
      if (before === undefined || inForceAt <= since) return []
      return [{ before, next: present, inForceAt: new Date(inForceAt).toISOString() }]
    })
  }

  /** Returns true if the version with this hash was cancelled, so that its votes no longer count. */
  async isCancelled(clientId: string, hash: string): Promise<boolean> {
    const { cancelled = [] } = (await this.#load(clientId))?.chain ?? {}
    return cancelled.some((version) => version.hash === hash)
  }

  /** Returns the hash of a version; null when the file has no such version. */
  async hashOfVersion(clientId: string, version: number): Promise<string | null> {
    return (await this.#load(clientId))?.links[version - 1]?.present.hash ?? null
  }

  /** Writes the first version; the caller has made sure that no version exists. */
  async pin(clientId: string, authority: Authority): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await this.#write(clientId, { versions: [{ authority, votes: [] }] })
  }

  /** Writes a version after the present one; the caller has verified it and holds the lock of the client. */
  async append(clientId: string, { inForceAt, ...signed }: Link & { inForceAt: string }): Promise<void> {
    const { chain } = await this.#demand(clientId)
    await this.#write(clientId, { ...chain, versions: [...chain.versions, { ...signed, inForceAt }] })
  }

  /**
   * Removes the waiting version from the file; the caller has verified the votes and holds the lock of the client. Returns false when the
   * version has come into force meanwhile.
   */
  async cancel(clientId: string, cancelled: Cancelled): Promise<boolean> {
    const loaded = await this.#demand(clientId)
    const { chain, links } = loaded
    if (links.at(-1)?.present.hash !== cancelled.hash) throw new AuthorityUnavailableError('another version waits')
    if (inForceOf(loaded).length === links.length) return false
    const before = chain.cancelled ?? []
    await this.#write(clientId, { versions: chain.versions.slice(0, -1), cancelled: [...before, cancelled] })
    return true
  }

  async #demand(clientId: string): Promise<Loaded> {
    const loaded = await this.#load(clientId)
    if (loaded === null) throw new AuthorityUnavailableError('the client has no authority file')
    return loaded
  }

  async #load(clientId: string): Promise<Loaded | null> {
    try {
      const known = this.#read.get(clientId)
      const stamp = await this.#stampOf(clientId)
      if (stamp === null) {
        if (known !== undefined) throw new Error('the file is gone')
        return null
      }
      if (known?.stamp === stamp) return known
      const loaded = { stamp, ...verifyChain(JSON.parse(await readFile(this.#fileOf(clientId), 'utf8'))) }
      const past = known === undefined ? [] : inForceOf(known)
      const isContinued = past.every(({ present }, index) => loaded.links[index]?.present.hash === present.hash)
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

  /** Writes a file completely and durably before it replaces the old file, so that a crash leaves the old file or the new file. */
  async #write(clientId: string, chain: Chain): Promise<void> {
    const file = this.#fileOf(clientId)
    const temporary = `${file}.${process.pid}.tmp`
    const handle = await open(temporary, 'w', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ ...chain, format: fileFormat }, null, 1)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
    await syncDirectory(this.#directory)
  }

  #fileOf(clientId: string): string {
    // Ids of clients are of the type uuid; anything else would be a path.
    if (!/^[0-9a-f-]{36}$/.test(clientId)) throw new Error('the id of the client is not a UUID')
    return join(this.#directory, `${clientId}.json`)
  }
}

/** Returns null without a directory. Throws for a missing directory: it may be a failed mount, which must not end the protection. */
export async function openAuthorities(directory: string | undefined): Promise<AuthorityStore | null> {
  if (directory === undefined) return null
  const found = await stat(directory).catch(() => null)
  if (!found?.isDirectory()) throw new AuthorityUnavailableError('AUTHORITY_DIR is not a directory that can be read')
  return new AuthorityStore(directory)
}

/** A release that does not know that versions wait must not read a file in which one may. */
const fileFormat = 'strongroom-authorities-2'
const fileFormats: unknown[] = ['strongroom-authorities-1', fileFormat]

/** The versions in force up to now: at most the last one waits. */
function inForceOf({ links }: Pick<Loaded, 'links'>): Loaded['links'] {
  const now = Date.now()
  const next = links.findIndex(({ inForceAt }) => inForceAt > now)
  return next === -1 ? links : links.slice(0, next)
}

function pendingOf({ chain, links }: Loaded, inForce: number): Pending | null {
  const last = links[inForce]
  if (last === undefined) return null
  // All votes verify, because a file with an invalid vote is refused.
  const { votes } = parseKept(chain.versions[inForce]!)
  const signedBy = [...new Set(votes.map(({ vote }) => vote.person))]
  return { ...last.present, inForceAt: new Date(last.inForceAt).toISOString(), signedBy }
}

function verifyChain(content: unknown): Pick<Loaded, 'chain' | 'links'> {
  const chain = content as Chain & { format?: unknown }
  if (!fileFormats.includes(chain?.format) || !Array.isArray(chain.versions)) throw new Error('it has another format')
  const links: Loaded['links'] = []
  for (const kept of chain.versions) {
    const { authority } = parseKept(kept)
    const before = links.at(-1)?.present
    if (before === undefined && (authority.version !== 1 || kept.inForceAt !== undefined)) {
      throw new Error('it does not begin with version 1')
    }
    const refused = before === undefined ? null : refusalOfKept(before.authority, kept)
    if (refused !== null) throw new Error(`version ${authority.version}: ${toText(refused)}`)
    links.push({ present: { authority, version: authority.version, hash: hashOf(authority) }, inForceAt: timeOf(kept) })
  }
  if (links.length === 0) throw new Error('it has no version')
  if (inForceOf({ links }).length < links.length - 1) throw new Error('more than one version waits')
  return { chain, links }
}

function timeOf({ inForceAt }: Link): number {
  const time = inForceAt === undefined ? 0 : Date.parse(inForceAt)
  if (Number.isNaN(time)) throw new Error('a version comes into force at no time')
  return time
}
