import type pg from 'pg'
import { readProtection } from '../authority/protection.ts'
import { toText } from '../authority/refusal.ts'
import { type AuthorityStore, AuthorityUnavailableError } from '../authority/store.ts'
import { claimSigning, refusalOfStored } from '../authority/verify-stored.ts'
import type { Chain, Claim, Key, Sender, Signable, Signed } from '../chains/chain.ts'
import { describeNodeError } from '../chains/node-error.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { parseDerivationPath } from '../keys/derivation-path.ts'
import type { Keyring } from '../keys/keyring.ts'
import { storeFirst } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

type SignOutcome =
  | ({ kind: 'signed' } & Signed)
  /** Not now: earlier transfers may change what the address can pay, the fee is too high, or an operator must intervene. */
  | { kind: 'wait'; reason: string }
  /** Another process signed or failed it first. */
  | { kind: 'taken' }

export type Signer = {
  pool: pg.Pool
  keyring: Keyring
  authorities: AuthorityStore | null
  chain: Chain
  /** Called at each point of sending, so that a test can stop the process there. */
  at?: ((point: SendPoint) => Promise<void>) | undefined
}

/** The points in sending a transfer at which tests end a process. No point may lose or double a payment. */
export const sendPoints = ['claimed', 'planned', 'assigned', 'signed', 'stored', 'sent', 'marked'] as const
export type SendPoint = (typeof sendPoints)[number]

/**
 * Signs queued transfers of an address in their order and stores places, bytes and hashes in one transaction, before anyone may
 * broadcast them. In a protected client each transfer has a database transaction of its own, because the journal keeps the nonce of an
 * order even when that transaction is rolled back.
 */
export async function signTransfers(
  signer: Signer,
  signable: Signable[],
  { sender, isProtected }: { sender: Sender; isProtected: boolean },
): Promise<Map<TransferRow, SignOutcome>> {
  const outcomes = new Map<TransferRow, SignOutcome>()
  for (const together of isProtected ? signable.map((entry) => [entry]) : signable.length > 0 ? [signable] : [])
    for (const [transfer, outcome] of await signTogether(signer, { signable: together, sender, isProtected }))
      outcomes.set(transfer, outcome)
  return outcomes
}

/** Signs transfers together; after an error one by one, so that an invalid row does not hold up the others. */
async function signTogether(signer: Signer, { signable, ...shared }: Signing): Promise<Map<TransferRow, SignOutcome>> {
  try {
    const { transfer } = signable[0]!
    if (transfersOf(signable).some(({ derivation_path }) => derivation_path !== transfer.derivation_path))
      throw new Error('transfers of one address have different paths')
    const key = await openKey(signer, transfer)
    const outcomes = await inTransaction(signer.pool, (tx) => storeSigned(tx, signer, { signable, key, ...shared }))
    await signer.at?.('stored')
    return outcomes
  } catch (error) {
    if (signable.length === 1) return waitingFor(signable, describeNodeError(error))
    const outcomes = new Map<TransferRow, SignOutcome>()
    for (const entry of signable)
      for (const [transfer, outcome] of await signTogether(signer, { signable: [entry], ...shared }))
        outcomes.set(transfer, outcome)
    return outcomes
  }
}

/** Returns true if a client of the transfers is protected, or if its authority cannot be read. */
export async function isAnyProtected(
  db: pg.Pool | pg.PoolClient,
  authorities: AuthorityStore | null,
  transfers: TransferRow[],
): Promise<boolean> {
  try {
    for (const clientId of new Set(transfers.map(({ client_id }) => client_id)))
      if ((await readProtection(db, authorities, clientId)) !== null) return true
    return false
  } catch (error) {
    if (!(error instanceof AuthorityUnavailableError)) throw error
    return true
  }
}

/**
 * Checks the signatures of a stored order. Returns null if they cover it, or if its client is not protected. Otherwise the payment is
 * impossible, or waits while its authority cannot be read.
 */
export async function findUnauthorized(
  { db, authorities, chain }: Pick<Signer, 'authorities' | 'chain'> & { db: pg.Pool | pg.PoolClient },
  transfer: TransferRow,
): Promise<{ kind: 'impossible' | 'wait'; reason: string } | null> {
  try {
    const refused = await refusalOfStored(db, authorities, chain, transfer)
    return refused === null ? null : { kind: 'impossible', reason: `AUTHORIZATION_REFUSED: ${toText(refused)}` }
  } catch (error) {
    if (!(error instanceof AuthorityUnavailableError)) throw error
    return { kind: 'wait', reason: `AUTHORITY_UNAVAILABLE: ${error.message}` }
  }
}

/**
 * Opens the key that signs for a transfer. This may read the database, so it happens before the transaction: transactions that each hold a
 * connection and wait for another connection would use up the pool.
 */
export async function openKey(
  { chain, keyring }: { chain: Chain; keyring: Keyring },
  transfer: TransferRow,
): Promise<Key> {
  const path = parseDerivationPath(transfer.derivation_path)
  if ('fault' in path) throw new Error('a stored transfer has a path that does not parse')
  const key = await chain.openKey(keyring, transfer.client_id, path)
  if (key.address !== transfer.from_address) throw new Error('the key of the path has another address than the order')
  return key
}

type Signing = { signable: Signable[]; sender: Sender; isProtected: boolean }
type Storing = Signing & { key: Key }

async function storeSigned(
  tx: pg.PoolClient,
  { authorities, chain, at }: Signer,
  { signable, sender, key, isProtected }: Storing,
): Promise<Map<TransferRow, SignOutcome>> {
  const outcomes = new Map<TransferRow, SignOutcome>()
  const open = await lockUnsigned(tx, signable)
  const first = open[0]
  for (const { transfer } of signable) outcomes.set(transfer, { kind: 'taken' })
  if (first === undefined) return outcomes
  const permitted: Signable[] = []
  // The check is repeated, because keys may have been removed while the node was asked.
  if (!isProtected && (await isAnyProtected(tx, authorities, transfersOf(open))))
    return waitingFor(open, becameProtected)
  for (const entry of open) {
    const unauthorized = isProtected ? await findUnauthorized({ db: tx, authorities, chain }, entry.transfer) : null
    if (unauthorized === null) permitted.push(entry)
    // It fails in the next pass, unless it may have been paid already.
    else outcomes.set(entry.transfer, { kind: 'wait', reason: unauthorized.reason })
  }
  const claim: Claim = async (transfer, place) =>
    isProtected ? await claimSigning(tx, authorities, transfer, { kind: 'payment', ...place }) : null
  const { assigned, waiting } = await sender.reserve(tx, permitted, claim)
  for (const { transfer, reason } of waiting) outcomes.set(transfer, { kind: 'wait', reason })
  await at?.('assigned')
  const signed = await Promise.all(
    assigned.map(async (entry) => ({ ...entry, ...(await chain.signPayment(key, entry)) })),
  )
  for (const { transfer, raw, hash } of signed) outcomes.set(transfer, { kind: 'signed', raw, hash })
  await at?.('signed')
  await storeFirst(
    tx,
    signed.map(({ transfer, plan, nonce, raw, hash }) => ({
      transfer,
      nonce,
      maxCost: plan.maxCost,
      transaction: { kind: 'payment', raw, hash },
    })),
  )
  await chain.storePlaces(tx, signed)
  return outcomes
}

const transfersOf = (signable: Signable[]) => signable.map(({ transfer }) => transfer)
const becameProtected = 'AUTHORITY_UNAVAILABLE: the client was protected while the transfer was prepared'

const waitingFor = (signable: Signable[], reason: string): Map<TransferRow, SignOutcome> =>
  new Map(signable.map(({ transfer }) => [transfer, { kind: 'wait', reason }]))

/** Locks the transfers that are still queued and unsigned, in the order of their creation, and returns them. */
async function lockUnsigned(tx: pg.PoolClient, signable: Signable[]): Promise<Signable[]> {
  const { rows } = await tx.query<{ client_id: string; id: string }>(
    `select t.client_id, t.id from wallet.transfers t
     join unnest($1::uuid[], $2::text[]) as w (client_id, id) on t.client_id = w.client_id and t.id = w.id
     where t.status = 'queued' and t.nonce is null order by t.sequence for update of t`,
    [signable.map(({ transfer }) => transfer.client_id), signable.map(({ transfer }) => transfer.id)],
  )
  const open = new Set(rows.map(({ client_id, id }) => `${client_id} ${id}`))
  return signable.filter(({ transfer: { client_id, id } }) => open.has(`${client_id} ${id}`))
}

/** Fails a transfer that has no transaction. Returns false if it was signed or ended meanwhile. */
export async function failUnsigned(
  db: pg.Pool | pg.PoolClient,
  transfer: TransferRow,
  reason: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update wallet.transfers set status = 'failed', failure_reason = $3, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and status = 'queued' and raw_transaction is null`,
    [transfer.client_id, transfer.id, reason],
  )
  return rowCount === 1
}
