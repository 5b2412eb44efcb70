import type pg from 'pg'
import type { Chain, Fees } from '../chains/chain.ts'
import type { Transaction } from '../transfers/transactions.ts'
import type { TransferRow } from '../transfers/transfer-row.ts'
import { hashOf } from './canonical.ts'
import { isEnough, type Ordered, readAuthorization, refusalOfOrder, refusalOfVersion } from './decide.ts'
import type { Authorization, Order } from './documents.ts'
import { refusalOfDecimals, refusalOfNetwork } from './fit.ts'
import { lockJournal, readProtection } from './protection.ts'
import { type Refusal, refusal, toText } from './refusal.ts'
import { listCancelling, refusalOfStopped } from './stops.ts'
import type { AuthorityStore, Present } from './store.ts'

type Db = pg.Pool | pg.PoolClient

/**
 * Refuses a stored order that may not be signed now. The row is not trusted, because an attacker may have written it. Returns
 * null when the order may be signed.
 *
 * @throws AuthorityUnavailableError, or an error of the node that does not say the decimals of the token
 */
export async function refusalOfStored(
  db: Db,
  store: AuthorityStore | null,
  chain: Chain,
  row: TransferRow,
): Promise<Refusal | null> {
  const present = await readProtection(db, store, row.client_id)
  if (store === null || present === null) return null
  const unsignable = refusalOfNetwork(chain)
  if (unsignable !== null) return unsignable
  const refused = refusalOfOrder({
    ordered: orderedOf(row),
    authorization: row.signed_order,
    authority: present.authority,
    orderedLastDay: await readOrderedBefore(db, row),
    now: new Date(),
  })
  if (refused !== null) return refused
  const stopped = await refusalOfStopped(store, row.client_id, row.signed_order as Authorization)
  if (stopped !== null) return stopped
  const { network, contract_address: contract } = row
  const rule = present.authority.rules.find(
    (candidate) => candidate.network === network && candidate.contractAddress === contract,
  )
  return rule === undefined ? null : await refusalOfDecimals(rule, chain)
}

type Signing = Fees & { nonce: number; kind: Transaction['kind'] }

/**
 * Notes outside of the database that a transaction of an order is about to be signed with the nonce. Returns null, or the reason why the
 * transfer must wait. It must not fail for this reason, because it may have been paid already. The caller has verified the order under the
 * version that its votes name.
 */
export async function claimSigning(
  tx: pg.PoolClient,
  store: AuthorityStore | null,
  row: TransferRow,
  { nonce, kind, fee, unsignedLimit }: Signing,
): Promise<string | null> {
  // Under the lock no version is put. The version that was verified may have been replaced before.
  await lockJournal(tx, row.client_id)
  const present = await readProtection(tx, store, row.client_id)
  if (store === null || present === null) return null
  const authorization = row.signed_order as Authorization
  const replaced = kind === 'payment' ? refusalOfVersion(authorization, present.authority) : null
  if (replaced !== null) return toText(replaced)
  const { order } = authorization
  const { network, contractAddress, amount, expiresAt } = order
  const rule = present.authority.rules.find(
    (candidate) => candidate.network === network && candidate.contractAddress === contractAddress,
  )
  const stopped = kind === 'payment' ? await refusalOfStopped(store, row.client_id, authorization) : null
  if (stopped !== null) return toText(stopped)
  const isFree = kind === 'cancellation' && (await isCancelledByPeople(store, row.client_id, present, authorization))
  const claim = {
    order: hashOf(order),
    nonce,
    network,
    contractAddress,
    amount,
    expiresAt,
    perDay: rule?.perDay ?? null,
    maxFee: order.maxFee ?? unsignedLimit.toString(),
    fee: isFree ? 0n : fee,
  }
  return await store.journal.claim(row.client_id, claim, new Date())
}

/** Returns true if as many people as the order needed signed its cancellation, which then has no fee limit. */
async function isCancelledByPeople(
  store: AuthorityStore,
  clientId: string,
  { authority }: Present,
  authorization: Authorization,
): Promise<boolean> {
  return isEnough(authority, authorization, await listCancelling(store, clientId, authorization))
}

/** In a protected client: the fee limit of an order that was signed here, or the reason to refuse a replacement. */
type SignedFees = { limit: bigint | null; isCancelled: boolean } | { refused: Refusal }

/**
 * Reads the fees that people permitted for the order of a row, from the journal and the signed order. The row and its limit are
 * not trusted. Returns null when the client is not protected. `limit` is null when an earlier release noted no limit.
 *
 * @throws AuthorityUnavailableError
 */
export async function readSignedFees(
  db: Db,
  store: AuthorityStore | null,
  chain: Chain,
  row: TransferRow,
): Promise<SignedFees | null> {
  const present = await readProtection(db, store, row.client_id)
  if (store === null || present === null) return null
  const unsignable = refusalOfNetwork(chain)
  if (unsignable !== null) return { refused: unsignable }
  const read = readAuthorization(row.signed_order)
  if ('refused' in read) return read
  const { order } = read
  const entry = await store.journal.find(row.client_id, hashOf(order))
  if (entry === null) {
    // The journal was lost, or the row only looks as if it had been signed: the signatures decide.
    const refused = await refusalOfStored(db, store, chain, row)
    return refused === null ? { limit: limitOf(order), isCancelled: false } : { refused }
  }
  if (entry.nonce !== Number(row.nonce) || !isOfSender(row, order))
    return { refused: refusal('ORDER_DIFFERS', 'another address or nonce was signed') }
  const limit = entry.maxFee === undefined ? limitOf(order) : BigInt(entry.maxFee)
  return { limit, isCancelled: await isCancelledByPeople(store, row.client_id, present, read) }
}

const limitOf = ({ maxFee }: Order) => (maxFee === undefined ? null : BigInt(maxFee))

const isOfSender = (row: TransferRow, order: Order) =>
  order.transferId === row.id &&
  order.network === row.network &&
  order.fromAddress === row.from_address &&
  order.derivationPath === row.derivation_path

function orderedOf(row: TransferRow): Ordered {
  return {
    id: row.id,
    network: row.network,
    coinType: Number(row.coin_type),
    derivationPath: row.derivation_path,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    contractAddress: row.contract_address,
    amount: BigInt(row.amount),
    feeLevel: row.fee_level,
    maxFee: row.max_fee === null ? null : BigInt(row.max_fee),
  }
}

/** Returns true if exactly this order was signed before under its id, regardless of the database. */
export async function wasSigned(
  store: AuthorityStore | null,
  { client_id, id, signed_order }: Pick<TransferRow, 'client_id' | 'id' | 'signed_order'>,
): Promise<boolean> {
  if (store === null) return false
  let hash: string
  try {
    const { order } = signed_order as Authorization
    if (order.transferId !== id) return false
    hash = hashOf(order)
  } catch {
    return false
  }
  return await store.journal.has(client_id, hash)
}

/** An order that is never carried out does not count: `failed` says that the amount has not moved and never will. */
const sumOfDay = `select coalesce(sum(amount), 0)::text as total from wallet.transfers
  where client_id = $1 and network = $2 and contract_address is not distinct from $3 and status <> 'failed'
    and created_at > $4::timestamptz - interval '24 hours'`

/** Reads the sum that the client ordered of the token within the 24 hours before `until`. */
export async function readOrderedLastDay(
  tx: pg.PoolClient,
  clientId: string,
  { network, contractAddress, until }: { network: string; contractAddress: string | null; until: Date },
): Promise<bigint> {
  const { rows } = await tx.query<{ total: string }>(sumOfDay, [clientId, network, contractAddress, until])
  return BigInt(rows[0]!.total)
}

/** Reads the sum at the time of the row's order, without later orders. */
async function readOrderedBefore(db: Db, row: TransferRow): Promise<bigint> {
  const { rows } = await db.query<{ total: string }>(
    `${sumOfDay} and (created_at, sequence) < ($4::timestamptz, $5::bigint)`,
    [row.client_id, row.network, row.contract_address, row.created_at, row.sequence],
  )
  return BigInt(rows[0]!.total)
}
