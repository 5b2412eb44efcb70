import type pg from 'pg'
import type { TransferRow } from './transfer-row.ts'

/**
 * A signed transaction of a transfer: the payment, a cancellation in its place that moves no funds, or a child, which spends the change of
 * the payment so that both are mined.
 */
export type Transaction = { kind: 'payment' | 'cancellation' | 'child'; raw: string; hash: string }

/** Reads the transactions of the transfers. Returns a function that gives the transactions of a transfer, newest first. */
export async function listTransactions(
  db: pg.Pool | pg.PoolClient,
  transfers: Pick<TransferRow, 'client_id' | 'id'>[],
): Promise<(transfer: Pick<TransferRow, 'client_id' | 'id'>) => Transaction[]> {
  const { rows } = await db.query<Transaction & { client_id: string; id: string }>({
    name: 'transactions-of-transfers',
    text: `select t.client_id, t.id, t.kind, t.raw_transaction as raw, t.tx_hash as hash
      from unnest($1::uuid[], $2::text[]) as w (client_id, id)
      join wallet.transactions t on t.client_id = w.client_id and t.id = w.id
      order by t.number desc`,
    values: [transfers.map(({ client_id }) => client_id), transfers.map(({ id }) => id)],
  })
  const known = new Map<string, Transaction[]>()
  for (const { client_id, id, ...transaction } of rows) {
    const key = `${client_id} ${id}`
    known.set(key, [...(known.get(key) ?? []), transaction])
  }
  return ({ client_id, id }) => known.get(`${client_id} ${id}`) ?? []
}

/** The first transaction of a transfer, with the nonce that its later transactions share. */
export type First = {
  transfer: Pick<TransferRow, 'client_id' | 'id'>
  nonce: number
  maxCost: bigint
  transaction: Transaction
}

/** Stores the first transactions of transfers, before anyone may broadcast them. */
export async function storeFirst(tx: pg.PoolClient, firsts: First[]): Promise<void> {
  if (firsts.length === 0) return
  const keys = [firsts.map(({ transfer }) => transfer.client_id), firsts.map(({ transfer }) => transfer.id)]
  const nonces = firsts.map(({ nonce }) => nonce)
  const raws = firsts.map(({ transaction }) => transaction.raw)
  const hashes = firsts.map(({ transaction }) => transaction.hash)
  await tx.query(
    `update wallet.transfers t
     set nonce = f.nonce, raw_transaction = f.raw, tx_hash = f.hash, max_cost = f.max_cost, updated_at = clock_timestamp()
     from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::numeric[])
       as f (client_id, id, nonce, raw, hash, max_cost)
     where t.client_id = f.client_id and t.id = f.id and t.nonce is null`,
    [...keys, nonces, raws, hashes, firsts.map(({ maxCost }) => maxCost.toString())],
  )
  await tx.query(
    `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
     select client_id, id, 0, nonce, kind, raw, hash
     from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[]) as f (client_id, id, nonce, raw, hash, kind)`,
    [...keys, nonces, raws, hashes, firsts.map(({ transaction }) => transaction.kind)],
  )
}

/** Stores another transaction of a transfer, before anyone may broadcast it. It is sent instead of the earlier one, a child in addition. */
export async function storeTransaction(
  tx: pg.PoolClient,
  { client_id, id }: Pick<TransferRow, 'client_id' | 'id'>,
  { transaction, nonce, maxCost }: { transaction: Transaction; nonce: number; maxCost: bigint },
): Promise<void> {
  await tx.query(
    `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
     select $1, $2, count(*), $3, $4, $5, $6 from wallet.transactions where client_id = $1 and id = $2`,
    [client_id, id, nonce, transaction.kind, transaction.raw, transaction.hash],
  )
  if (transaction.kind === 'child') {
    await tx.query(
      'update wallet.transfers set max_cost = greatest(max_cost, $3), updated_at = clock_timestamp() where client_id = $1 and id = $2',
      [client_id, id, maxCost.toString()],
    )
    return
  }
  // Any of the transactions may be mined, so the highest fee counts.
  await tx.query(
    `update wallet.transfers
     set raw_transaction = $3, tx_hash = $4, max_cost = greatest(max_cost, $5), updated_at = clock_timestamp()
     where client_id = $1 and id = $2`,
    [client_id, id, transaction.raw, transaction.hash, maxCost.toString()],
  )
}
