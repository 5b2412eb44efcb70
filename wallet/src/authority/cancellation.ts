import type pg from 'pg'
import { inTransaction } from '../database/in-transaction.ts'
import { notFound } from '../errors.ts'
import { cancellingVotes, readRejection, refusalOfCancellation } from './decide.ts'
import type { AnyAuthority, SignedVote } from './documents.ts'
import { lockClient, refused, showProtection } from './protection.ts'
import type { AuthorityStore, Shown } from './store.ts'

/**
 * Cancels the waiting version if enough people rejected it: one fewer than must sign a version. A repetition changes nothing.
 * @throws WalletError 404 when no version waits, 403 when the votes do not suffice
 */
export async function cancelPending(
  pool: pg.Pool,
  store: AuthorityStore | null,
  clientId: string,
  votes: unknown,
): Promise<Shown> {
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const shown = await showProtection(tx, store, clientId)
    if (store === null || shown === null) throw notFound('Authority')
    const cancelled = await findCancelled(store, clientId, votes)
    const hash = cancelled ?? shown.pending?.hash
    if (hash === undefined) throw notFound('Version that waits')
    const now = new Date()
    const reason = refusalOfCancellation(shown.authority, hash, votes, now)
    if (reason !== null) throw refused(reason)
    if (cancelled !== null) return shown
    if (!(await store.cancel(clientId, { hash, votes, at: now.toISOString() }))) throw notFound('Version that waits')
    return { ...shown, pending: null }
  })
}

/** People may have cancelled the version on the page for signatures before the service hands the same votes over. */
async function findCancelled(store: AuthorityStore, clientId: string, votes: unknown): Promise<string | null> {
  const hash = (votes as { vote?: { hash?: unknown } }[] | null)?.[0]?.vote?.hash
  return typeof hash === 'string' && (await store.isCancelled(clientId, hash)) ? hash : null
}

type About = { authority: AnyAuthority; hash: string; now: Date }

/** Lists the kept votes against the version with this hash. Lines that this service did not write are skipped. */
export async function listRejections(
  store: AuthorityStore,
  clientId: string,
  { authority, hash, now }: About,
): Promise<SignedVote[]> {
  const kept = await store.rejections.find(clientId, hash)
  return kept.filter((rejection) => !('refused' in readRejection(authority, rejection, now)))
}

/** The people who rejected the version, and the number that cancels it. */
export type Rejected = { given: number; needed: number }

/**
 * Keeps the vote of a person against the waiting version, and cancels the version once enough people have signed. The caller
 * needs no token, because the signature names the person and moves no funds. A repetition changes nothing.
 * @throws WalletError 404 when the client is not protected or no such version waits, 403 with a code when the vote does not count
 */
export async function rejectPending(
  pool: pg.Pool,
  store: AuthorityStore | null,
  clientId: string,
  vote: unknown,
): Promise<Rejected> {
  const present = await showProtection(pool, store, clientId)
  if (store === null || present === null) throw notFound('Authority')
  const now = new Date()
  const signed = readRejection(present.authority, vote, now)
  if ('refused' in signed) throw refused(signed.refused)
  const { hash } = signed.vote
  return await inTransaction(pool, async (tx) => {
    await lockClient(tx, clientId)
    const needed = cancellingVotes(present.authority)
    if (await store.isCancelled(clientId, hash)) return { given: needed, needed }
    const shown = await showProtection(tx, store, clientId)
    if (shown?.pending?.hash !== hash) throw notFound('Version that waits')
    await store.rejections.note(clientId, signed)
    const { authority } = shown
    const votes = await listRejections(store, clientId, { authority, hash, now })
    const isEnough = refusalOfCancellation(authority, hash, votes, now) === null
    if (isEnough && !(await store.cancel(clientId, { hash, votes, at: now.toISOString() })))
      throw notFound('Version that waits')
    return { given: votes.length, needed }
  })
}
