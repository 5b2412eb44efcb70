import type pg from 'pg'
import { readPath } from '../addresses.ts'
import { hashOf } from '../authority/canonical.ts'
import { type Ordered, refusalOfOrder } from '../authority/decide.ts'
import type { AnyAuthority, Authorization } from '../authority/documents.ts'
import { refusalOfNetwork } from '../authority/fit.ts'
import { lockDay, lockOrder, noAuthority, readProtection, refused } from '../authority/protection.ts'
import { refusalOfStopped } from '../authority/stops.ts'
import type { AuthorityStore } from '../authority/store.ts'
import { readOrderedLastDay, wasSigned } from '../authority/verify-stored.ts'
import type { Chain } from '../chains/chain.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { badField, notFound, WalletError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import { amountMax } from '../limits.ts'
import type { TransferOrder } from '../protocol.ts'
import { depthColumn, type PresentedRow, placeColumns, type TransferRow } from './transfer-row.ts'

type Parts = { pool: pg.Pool; keyring: Keyring; authorities: AuthorityStore | null; chain: Chain }

/**
 * Accepts an order once per (client, id): the same order again returns its state, another order under the id is a 409. In a
 * protected client a new order needs the signatures that its authority asks for, or it is a 403 and nothing is stored.
 */
export async function orderTransfer(
  { pool, keyring, authorities, chain }: Parts,
  clientId: string,
  order: TransferOrder,
): Promise<PresentedRow> {
  const authorization = order.authorization ?? undefined
  const ordered = await readOrder({ keyring, chain }, clientId, order)
  const stored = await inTransaction(pool, async (tx) => {
    await lockOrder(tx, clientId, ordered.id)
    const present = await readProtection(tx, authorities, clientId)
    if (present === null && authorization === undefined) return await store(tx, clientId, ordered, { until: null })
    // A repeated order, for example after a lost answer, returns the state even if the order has expired since.
    if (await isOrdered(tx, clientId, ordered.id)) return null
    const unsignable = present === null ? null : refusalOfNetwork(chain)
    if (unsignable !== null) throw refused(unsignable)
    if (present !== null && isLimitedByDay(present.authority, ordered)) await lockDay(tx, clientId, ordered)
    const { rows } = await tx.query<{ now: Date }>("select date_trunc('milliseconds', clock_timestamp()) as now")
    const until = rows[0]!.now
    if (present === null && authorization !== undefined) throw refused(noAuthority)
    if (present !== null) {
      // A restored database does not know the order. A refusal would say that the amount has not moved.
      if (await wasSigned(authorities, { client_id: clientId, id: ordered.id, signed_order: authorization })) {
        const sentence = `ALREADY_SIGNED: transfer ${ordered.id} was signed before and may have been mined`
        throw new WalletError(409, 'This order was signed before', sentence)
      }
      const orderedLastDay = await readOrderedLastDay(tx, clientId, { ...ordered, until })
      const { authority } = present
      const reason = refusalOfOrder({ ordered, authorization, authority, orderedLastDay, now: new Date() })
      if (reason !== null) throw refused(reason)
      const stopped = authorities && (await refusalOfStopped(authorities, clientId, authorization as Authorization))
      if (stopped !== null) throw refused(stopped)
    }
    return await store(tx, clientId, ordered, { authorization, until })
  })
  if (stored !== null) return { ...stored, tx_hashes: [], waits_for: null, depth: 0, anchor: null, pays: null }
  const row = await getTransfer(pool, clientId, order.id)
  if (!isSameOrder(row, ordered, authorization))
    throw new WalletError(409, 'This id belongs to another order', `transfer ${order.id} was ordered with other fields`)
  return row
}

const isLimitedByDay = ({ rules }: AnyAuthority, { network, contractAddress }: Ordered) =>
  rules.some((rule) => rule.network === network && rule.contractAddress === contractAddress && rule.perDay !== null)

async function readOrder(
  { keyring, chain }: Pick<Parts, 'keyring' | 'chain'>,
  clientId: string,
  order: TransferOrder,
): Promise<Ordered> {
  const { address } = await chain.openKey(keyring, clientId, readPath(order, chain))
  const fromAddress = chain.readAddress('fromAddress', order.fromAddress)
  if (address !== fromAddress) throw badField('fromAddress', 'is not the address of the derivation path')
  const toAddress = chain.readRecipient(order.toAddress)
  const contractAddress =
    order.contractAddress === null ? null : chain.readContract('contractAddress', order.contractAddress)
  const amount = readAmount(order.amount)
  if (amount === 0n) throw badField('amount', 'must be above zero')
  chain.checkPayment({ fromAddress, toAddress, contractAddress, amount })
  return {
    id: order.id,
    network: order.network,
    coinType: order.coinType,
    derivationPath: order.derivationPath,
    fromAddress,
    toAddress,
    contractAddress,
    amount,
    feeLevel: order.feeLevel ?? null,
    maxFee: order.maxFee === undefined ? null : readAmount(order.maxFee, 'maxFee'),
  }
}

async function isOrdered(tx: pg.PoolClient, clientId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('select from wallet.transfers where client_id = $1 and id = $2', [clientId, id])
  return rowCount === 1
}

/** Stores an order under the lock of its id. Returns null if the id was ordered before. `until`: its time, or null for now. */
async function store(
  tx: pg.PoolClient,
  clientId: string,
  ordered: Ordered,
  { authorization, until }: { authorization?: unknown; until: Date | null },
): Promise<TransferRow | null> {
  const { rows } = await tx.query<TransferRow>(
    `insert into wallet.transfers
       (client_id, id, network, coin_type, derivation_path, from_address, to_address, contract_address, amount, fee_level,
        max_fee, signed_order, created_at)
     select $1::uuid, $2, $3, $4::bigint, $5, $6, $7, $8, $9::numeric, $10, $11::numeric, $12::jsonb,
       coalesce($13::timestamptz, date_trunc('milliseconds', clock_timestamp()))
     where not exists (select from wallet.transfers where client_id = $1::uuid and id = $2) returning *`,
    [
      clientId,
      ordered.id,
      ordered.network,
      ordered.coinType,
      ordered.derivationPath,
      ordered.fromAddress,
      ordered.toAddress,
      ordered.contractAddress,
      ordered.amount.toString(),
      ordered.feeLevel,
      ordered.maxFee?.toString() ?? null,
      authorization === undefined ? null : JSON.stringify(authorization),
      until,
    ],
  )
  return rows[0] ?? null
}

/** Returns true if the row has the same order. The votes may differ. */
function isSameOrder(row: PresentedRow, ordered: Ordered, authorization: unknown): boolean {
  return (
    row.network === ordered.network &&
    row.derivation_path === ordered.derivationPath &&
    row.from_address === ordered.fromAddress &&
    row.to_address === ordered.toAddress &&
    row.contract_address === ordered.contractAddress &&
    BigInt(row.amount) === ordered.amount &&
    row.fee_level === ordered.feeLevel &&
    (row.max_fee === null ? null : BigInt(row.max_fee)) === ordered.maxFee &&
    (authorization === undefined || row.signed_order === null || isSameSigned(row.signed_order, authorization))
  )
}

function isSameSigned(stored: unknown, received: unknown): boolean {
  try {
    return hashOf((stored as { order?: unknown }).order) === hashOf((received as { order?: unknown }).order)
  } catch {
    return false
  }
}

/** Reads a transfer. @throws 404 for an id that the client does not have */
export async function getTransfer(pool: pg.Pool, clientId: string, id: string): Promise<PresentedRow> {
  const [transfer] = await listTransfers(pool, clientId, [id])
  if (transfer === undefined) throw notFound('Transfer')
  return transfer
}

/**
 * Reads transfers of a client, without ids that the client does not have. A transfer that is in no block waits for every lower
 * nonce of its address.
 */
export async function listTransfers(pool: pg.Pool, clientId: string, ids: string[]): Promise<PresentedRow[]> {
  const { rows } = await pool.query<PresentedRow>(
    `select t.*,
       array(select v.tx_hash from wallet.transactions v
         where v.client_id = t.client_id and v.id = t.id and v.kind <> 'child' order by v.number) as tx_hashes,
       ${depthColumn}, ${placeColumns},
       case when t.status in ('queued', 'broadcast') and t.block_number is null then (
         select b.id from wallet.in_flight b
         where b.client_id = t.client_id and b.network = t.network and b.from_address = t.from_address
           and b.nonce < t.nonce and b.block_number is null
         order by b.nonce limit 1) end as waits_for
     from wallet.transfers t left join wallet.follows f on f.network = t.network
     where t.client_id = $1 and t.id = any($2::text[])`,
    [clientId, ids],
  )
  return rows
}

export function readAmount(value: string, field = 'amount'): bigint {
  const amount = BigInt(value)
  if (amount > amountMax) throw badField(field, 'must be at most 2^256-1')
  return amount
}
