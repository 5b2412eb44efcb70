import type pg from 'pg'
import type { Hex } from 'viem'
import type { TransferRow } from './transfer-row.ts'

/** A transaction that was signed for a transfer: the payment, or what takes its nonce without moving anything. */
export type Transaction = { kind: 'payment' | 'cancellation'; raw: Hex; hash: Hex }

/** All transactions of the transfers, newest first; the answer gives those of one. */
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

/** Stores a signed transaction, before anyone may broadcast it, and makes it the one that is sent. */
export async function storeTransaction(
  tx: pg.PoolClient,
  { client_id, id }: Pick<TransferRow, 'client_id' | 'id'>,
  { transaction, nonce, maxCost }: { transaction: Transaction; nonce: number; maxCost: bigint },
): Promise<void> {
  // The first transaction brings the nonce, to which the row of every transaction refers.
  await tx.query(
    `update wallet.transfers set nonce = $3, raw_transaction = $4, tx_hash = $5, max_cost = $6
     where client_id = $1 and id = $2 and nonce is null`,
    [client_id, id, nonce, transaction.raw, transaction.hash, maxCost.toString()],
  )
  await tx.query(
    `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
     select $1, $2, count(*), $3, $4, $5, $6 from wallet.transactions where client_id = $1 and id = $2`,
    [client_id, id, nonce, transaction.kind, transaction.raw, transaction.hash],
  )
  // Any of the transactions may be mined, so the dearest one counts.
  await tx.query(
    `update wallet.transfers
     set raw_transaction = $3, tx_hash = $4, max_cost = greatest(max_cost, $5), updated_at = clock_timestamp()
     where client_id = $1 and id = $2`,
    [client_id, id, transaction.raw, transaction.hash, maxCost.toString()],
  )
}
