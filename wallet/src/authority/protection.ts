import type pg from 'pg'
import type { Logger } from 'pino'
import { inTransaction } from '../database/in-transaction.ts'
import { notFound, WalletError } from '../errors.ts'
import { hashOf } from './canonical.ts'
import { refusalOfNext } from './decide.ts'
import { parseAuthority, parseVotes } from './parse.ts'
import { type Refusal, refusal, toText } from './refusal.ts'
import { type AuthorityStore, AuthorityUnavailableError, type Present } from './store.ts'

/** 403 for what people have not signed; `details` begins with the code. */
export const refused = (reason: Refusal) => new WalletError(403, 'The signatures do not authorise this', toText(reason))

type Mark = { authority_version: number | null; authority_hash: string | null }

/**
 * The authority of a client, or null when it is not protected. Protected is a client that has a file, whatever the database
 * says, and a client that the database marks, whether or not there is a file: a restore of either is noticed by the other.
 *
 * @throws AuthorityUnavailableError when the file is missing, or older than the mark, or has another past
 */
export async function readProtection(
  db: pg.Pool | pg.PoolClient,
  store: AuthorityStore | null,
  clientId: string,
): Promise<Present | null> {
  const { rows } = await db.query<Mark>('select authority_version, authority_hash from wallet.clients where id = $1', [
    clientId,
  ])
  const mark = rows[0]
  const present = store === null ? null : await store.read(clientId)
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

/** One writer at a time for what a client orders and for its authority. */
export async function lockClient(tx: pg.PoolClient, clientId: string): Promise<void> {
  await tx.query('select from wallet.clients where id = $1 for no key update', [clientId])
}

/**
 * Pins version 1, which people have compared by hand.
 * @throws MalformedError, or an Error when the client is protected already
 */
export async function pinAuthority(pool: pg.Pool, store: AuthorityStore, clientId: string, document: unknown) {
  const authority = parseAuthority(document)
  if (authority.version !== 1) throw new Error('only version 1 is pinned by hand; later ones are signed')
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    if ((await readProtection(tx, store, clientId)) !== null) throw new Error('the client has an authority already')
    await store.pin(clientId, authority)
    return await mark(tx, store, clientId)
  })
}

/**
 * Puts the next version in force. The present version again is answered as it is, so that a repetition is harmless.
 * @throws WalletError 404 when the client is not protected, 403 when the version may not follow
 */
export async function updateAuthority(
  pool: pg.Pool,
  store: AuthorityStore | null,
  clientId: string,
  next: { authority: unknown; votes: unknown },
): Promise<Present> {
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const present = await readProtection(tx, store, clientId)
    if (store === null || present === null) throw notFound('Authority')
    if (isSame(present, next.authority)) return present
    const reason = refusalOfNext(present.authority, next.authority, next.votes, new Date())
    if (reason !== null) throw refused(reason)
    await store.append(clientId, parseAuthority(next.authority), parseVotes(next.votes))
    return await mark(tx, store, clientId)
  })
}

function isSame({ hash }: Present, document: unknown): boolean {
  try {
    return hashOf(parseAuthority(document)) === hash
  } catch {
    return false
  }
}

/** The file is written before: if the database then fails, the file is ahead of the mark, which is right. */
async function mark(tx: pg.PoolClient, store: AuthorityStore, clientId: string): Promise<Present> {
  const present = await store.read(clientId)
  if (present === null) throw new AuthorityUnavailableError('the authority file is gone')
  await tx.query('update wallet.clients set authority_version = $2, authority_hash = $3 where id = $1', [
    clientId,
    present.version,
    present.hash,
  ])
  return present
}

/** At the start: a database that was restored without its marks gets them again, and what is unavailable is said at once. */
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

/** What an order is refused with when its client is not protected: its signers relied on an authority. */
export const noAuthority = refusal('AUTHORITY_VERSION_DIFFERS', 'this wallet service holds no authority for the client')
