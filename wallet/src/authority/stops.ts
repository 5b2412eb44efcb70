import type pg from 'pg'
import { inTransaction } from '../database/in-transaction.ts'
import { notFound } from '../errors.ts'
import { hashOf } from './canonical.ts'
import { readStops } from './decide.ts'
import type { Authorization } from './documents.ts'
import { lockClient, readProtection, refused } from './protection.ts'
import { type Refusal, refusal } from './refusal.ts'
import type { AuthorityStore } from './store.ts'

/**
 * Stops what the votes are about, all of it or nothing. No token is needed: the signatures say who stops it, and whoever brings
 * them, nothing moves for it. A repetition changes nothing.
 * @throws WalletError 404 when the client is not protected, 403 with a code when a vote does not count
 */
export async function stopOrders(
  pool: pg.Pool,
  store: AuthorityStore | null,
  clientId: string,
  votes: unknown,
): Promise<{ stopped: string[] }> {
  const present = await readProtection(pool, store, clientId)
  if (store === null || present === null) throw notFound('Authority')
  const now = new Date()
  const read = readStops(present.authority, votes, now)
  // Strangers reach this on the page for signatures: without a signature that counts they lock nothing.
  if ('refused' in read) throw refused(read.refused)
  await inTransaction(pool, async (tx) => {
    // An order that is about to be signed holds the lock: the stop comes before it, or after it was signed.
    await lockClient(tx, clientId)
    await store.stops.note(clientId, read.stops, now)
  })
  return { stopped: [...new Set(read.stops.map(({ hash }) => hash))] }
}

/** Refuses an order that somebody stopped, whatever else was signed for it. Returns null when nobody did. */
export async function refusalOfStopped(
  store: AuthorityStore,
  clientId: string,
  authorization: Authorization,
): Promise<Refusal | null> {
  const [stop] = await store.stops.find(clientId, hashesOf(authorization))
  if (stop === undefined) return null
  return refusal('STOPPED', `${stop.person} signed on ${stop.at.slice(0, 10)} that it must not be carried out`)
}

/** Lists the people who signed that the order is cancelled; a veto alone is no cancellation. */
export async function listCancelling(
  store: AuthorityStore,
  clientId: string,
  authorization: Authorization,
): Promise<Set<string>> {
  const stops = await store.stops.find(clientId, hashesOf(authorization))
  return new Set(stops.filter(({ decision }) => decision === 'cancel').map(({ person }) => person))
}

/** The hashes of the order and of the payout that it is a row of. */
const hashesOf = ({ order, batch }: Authorization): string[] =>
  batch === undefined ? [hashOf(order)] : [hashOf(order), hashOf(batch.payout)]
