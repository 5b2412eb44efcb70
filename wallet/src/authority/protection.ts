import type pg from 'pg'
import type { Logger } from 'pino'
import { inTransaction } from '../database/in-transaction.ts'
import { notFound, WalletError } from '../errors.ts'
import { hashOf } from './canonical.ts'
import { refusalOfNext } from './decide.ts'
import { inForceAfter } from './delay.ts'
import { refusalOfFit, type Surroundings } from './fit.ts'
import { parseAuthority, parseVotes } from './parse.ts'
import { type Refusal, refusal, toText } from './refusal.ts'
import { type AuthorityStore, AuthorityUnavailableError, type Present, type Shown } from './store.ts'

/** The 403 for a request without the needed signatures; `details` begins with the code. */
export const refused = (reason: Refusal) => new WalletError(403, 'The signatures do not authorise this', toText(reason))

type Mark = { authority_version: number | null; authority_hash: string | null }

/**
 * Returns the authority of a client, or null when the client is not protected. A client is protected if it has a file or a mark
 * in the database, so that a restore of one of them is noticed by the other.
 *
 * @throws AuthorityUnavailableError when the file is missing, is older than the mark, or contradicts its hash
 */
export const readProtection = (
  db: pg.Pool | pg.PoolClient,
  store: AuthorityStore | null,
  clientId: string,
): Promise<Present | null> => readMarked(db, store, clientId, (files) => files.read(clientId))

async function readMarked<P extends Present>(
  db: pg.Pool | pg.PoolClient,
  store: AuthorityStore | null,
  clientId: string,
  read: (store: AuthorityStore) => Promise<P | null>,
): Promise<P | null> {
  const { rows } = await db.query<Mark>('select authority_version, authority_hash from wallet.clients where id = $1', [
    clientId,
  ])
  const mark = rows[0]
  const present = store === null ? null : await read(store)
  const marked = mark?.authority_version ?? null
  if (marked === null) return present
  if (store === null) throw new AuthorityUnavailableError('the client is protected, and AUTHORITY_DIR is not set')
  if (present === null)
    throw new AuthorityUnavailableError('the client is protected, and its authority file is missing')
  if (present.version < marked) {
    throw new AuthorityUnavailableError(`the authority file has version ${present.version}, and ${marked} was in force`)
  }
  if ((await store.hashOfVersion(clientId, marked)) !== mark?.authority_hash) {
    throw new AuthorityUnavailableError(`the authority file has another version ${marked} than was in force`)
  }
  return present
}

/**
 * Waits for running orders and signatures of a client, and holds up new ones until the end of the transaction, for a change of
 * its authority or a stop. The queue of locks is fair, so that many orders cannot delay a stop.
 */
export async function lockClient(tx: pg.PoolClient, clientId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`client ${clientId}`])
  await tx.query('select from wallet.clients where id = $1 for no key update', [clientId])
}

/** Locks a part of a client exclusively, and its authority and stops against changes. Other parts are not locked. */
async function lockPart(tx: pg.PoolClient, clientId: string, part: string): Promise<void> {
  await tx.query(
    'select pg_advisory_xact_lock_shared(hashtextextended($1, 0)), pg_advisory_xact_lock(hashtextextended($2, 0))',
    [`client ${clientId}`, `${part} of client ${clientId}`],
  )
}

/** Locks an order, so that concurrent requests store it once. */
export const lockOrder = (tx: pg.PoolClient, clientId: string, id: string) => lockPart(tx, clientId, `order ${id}`)

type Token = { network: string; contractAddress: string | null }

/** Locks the sums of a day, so that two concurrent orders cannot exceed the limit of the day together. */
export const lockDay = (tx: pg.PoolClient, clientId: string, { network, contractAddress }: Token) =>
  lockPart(tx, clientId, `day ${network} ${contractAddress}`)

/** Locks the journal of a client for one writer. */
export const lockJournal = (tx: pg.PoolClient, clientId: string) => lockPart(tx, clientId, 'journal')

/**
 * Pins version 1, which people have compared by hand.
 * @throws MalformedError, or an Error when the client is protected already
 */
export async function pinAuthority(pool: pg.Pool, store: AuthorityStore, clientId: string, document: unknown) {
  const authority = parseAuthority(document)
  if (authority.version !== 1) throw new Error('only version 1 is pinned by hand; later versions are signed')
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    if ((await readProtection(tx, store, clientId)) !== null) throw new Error('the client already has an authority')
    await store.pin(clientId, authority)
    return await mark(tx, store, clientId)
  })
}

/** Reads the version in force and the pending version. Returns null when the client is not protected. @throws as `readProtection` */
export const showProtection = (
  db: pg.Pool | pg.PoolClient,
  store: AuthorityStore | null,
  clientId: string,
): Promise<Shown | null> => readMarked(db, store, clientId, (files) => files.readShown(clientId))

/**
 * Takes the next version, which comes into force after the delay of the present version. A repetition of the present or the
 * pending version changes nothing.
 * @throws WalletError 404 when the client is not protected, 403 when the version may not follow, 409 while another version waits
 */
export async function updateAuthority(
  pool: pg.Pool,
  store: AuthorityStore | null,
  clientId: string,
  next: { authority: unknown; votes: unknown },
  around: Surroundings,
): Promise<Shown> {
  if (store === null) throw notFound('Authority')
  const shown = await checkNext(pool, store, clientId, next)
  if (shown !== null) return shown
  // The nodes are asked about a signed version before the client is locked.
  const unfit = await refusalOfFit(parseAuthority(next.authority), around)
  if (unfit !== null) throw refused(unfit)
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const known = await checkNext(tx, store, clientId, next)
    if (known !== null) return known
    const now = new Date()
    const { authority } = (await readProtection(tx, store, clientId))!
    const inForceAt = inForceAfter(authority, now).toISOString()
    await store.append(clientId, {
      authority: parseAuthority(next.authority),
      votes: parseVotes(next.votes),
      inForceAt,
    })
    return await mark(tx, store, clientId)
  })
}

/** Returns the answer to a known version, or null for a new version that may follow. @throws as `updateAuthority` */
async function checkNext(
  db: pg.Pool | pg.PoolClient,
  store: AuthorityStore,
  clientId: string,
  next: { authority: unknown; votes: unknown },
): Promise<Shown | null> {
  const shown = await showProtection(db, store, clientId)
  if (shown === null) throw notFound('Authority')
  const { pending, authority } = shown
  if (isSame(shown, next.authority) || (pending !== null && isSame(pending, next.authority))) return shown
  const reason = refusalOfNext(authority, next.authority, next.votes, new Date())
  if (reason !== null) throw refused(reason)
  if (await store.isCancelled(clientId, hashOf(next.authority))) {
    throw refused(refusal('VERSION_CANCELLED', 'this version was cancelled; write and sign another one'))
  }
  if (pending === null) return null
  const sentence = `VERSION_PENDING: version ${pending.version} comes into force at ${pending.inForceAt}; cancel it first`
  throw new WalletError(409, 'Another version waits', sentence)
}

function isSame({ hash }: Present, document: unknown): boolean {
  try {
    return hashOf(parseAuthority(document)) === hash
  } catch {
    return false
  }
}

/** Sets the mark in the database. The file is written first, because a file that is ahead of the mark is valid. */
async function mark(tx: pg.PoolClient, store: AuthorityStore, clientId: string): Promise<Shown> {
  const shown = await store.readShown(clientId)
  if (shown === null) throw new AuthorityUnavailableError('the authority file is gone')
  await tx.query('update wallet.clients set authority_version = $2, authority_hash = $3 where id = $1', [
    clientId,
    shown.version,
    shown.hash,
  ])
  return shown
}

/** Raises the mark of each client whose next version has come into force, so that a restore of the file does not undo it. */
export async function raiseMarks(pool: pg.Pool, store: AuthorityStore, log: Logger): Promise<void> {
  const { rows } = await pool.query<Mark & { id: string; name: string }>(
    'select id, name, authority_version, authority_hash from wallet.clients',
  )
  for (const { id, name, authority_version: marked } of rows) {
    try {
      const present = await store.read(id)
      if (present === null || present.version === marked) continue
      await readProtection(pool, store, id)
      await inTransaction(pool, async (tx) => {
        await lockClient(tx, id)
        await mark(tx, store, id)
      })
      log.info({ client: name, version: present.version }, 'a version of the authority has come into force')
    } catch (error) {
      if (!(error instanceof AuthorityUnavailableError)) throw error
    }
  }
}

/** Restores missing marks of a restored database at the start, and reports unavailable authorities. */
export async function markAuthorities(pool: pg.Pool, store: AuthorityStore, log: Logger): Promise<void> {
  const { rows } = await pool.query<{ id: string; name: string }>('select id, name from wallet.clients order by name')
  for (const { id, name } of rows) {
    try {
      const present = await readProtection(pool, store, id)
      if (present === null) continue
      await inTransaction(pool, async (tx) => {
        await lockClient(tx, id)
        await mark(tx, store, id)
      })
      log.info({ client: name, version: present.version, hash: present.hash }, 'the client is protected')
    } catch (error) {
      if (!(error instanceof AuthorityUnavailableError)) throw error
      log.error({ client: name, error: error.message }, 'nothing is signed for a protected client')
    }
  }
}

/** The refusal of a signed order whose client is not protected: its signers relied on an authority. */
export const noAuthority = refusal('AUTHORITY_VERSION_DIFFERS', 'this wallet service holds no authority for the client')
