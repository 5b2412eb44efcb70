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
 * Stops all orders of the votes, or none of them. The caller needs no token, because the signatures name the persons and a stop
 * moves no funds. A repetition changes nothing.
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
  // Strangers can call this through the page for signatures, so nothing is locked before a signature is verified.
  if ('refused' in read) throw refused(read.refused)
  await inTransaction(pool, async (tx) => {
    // An order that is about to be signed holds the lock: the stop comes before it, or after it was signed.
    await lockClient(tx, clientId)
    await store.stops.note(clientId, read.stops, now)
  })
  return { stopped: [...new Set(read.stops.map(({ hash }) => hash))] }
}

/** Refuses a stopped order, regardless of its other signatures. Returns null when the order was not stopped. */
export async function refusalOfStopped(
  store: AuthorityStore,
  clientId: string,
  authorization: Authorization,
): Promise<Refusal | null> {
  const [stop] = await store.stops.find(clientId, hashesOf(authorization))
  if (stop === undefined) return null
  return refusal('STOPPED', `${stop.person} signed on ${stop.at.slice(0, 10)} that it must not be carried out`)
}

/** Lists the people who signed that the order is cancelled; a veto alone is not a cancellation. */
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
