import type pg from 'pg'

/** Orders that are not signed yet, although a transaction that this wallet has no record of may have paid them. */
export class PaidOrdersError extends Error {
  readonly ids: string[]
  constructor(ids: string[]) {
    super(
      `these orders would be signed, and unknown transactions have paid the same: ${ids.join(', ')}. Settle or cancel them first ` +
        '(POST /transfers/ID/cancel-on-chain {"txHash": null})',
    )
    this.ids = ids
  }
}

/**
 * Records that transactions unknown to the wallet have used the nonces below `nextNonce`. An operator calls it after a restore
 * from an older backup, and compares the history of the address with the ledger first. Returns false if the nonce would fall.
 * @throws PaidOrdersError
 */
export async function acceptNonce(
  pool: pg.Pool,
  { network, address, nextNonce }: { network: string; address: string; nextNonce: number },
): Promise<boolean> {
  const paid = await listPaidOrders(pool, network, address)
  if (paid.length > 0) throw new PaidOrdersError(paid)
  const { rowCount } = await pool.query(
    `insert into wallet.nonces (network, address, next_nonce)
     select network, address, $3 from wallet.addresses where network = $1 and address = $2
     on conflict (network, address) do update set next_nonce = excluded.next_nonce
     where nonces.next_nonce < excluded.next_nonce`,
    [network, address, nextNonce],
  )
  return rowCount === 1
}

async function listPaidOrders(pool: pg.Pool, network: string, address: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select t.id from wallet.transfers t
     where t.network = $1 and t.from_address = $2 and t.status = 'queued' and t.nonce is null and exists (
       select from wallet.unknown_transactions u, jsonb_array_elements(u.payments) p
       where u.network = t.network and u.from_address = t.from_address and lower(p ->> 'toAddress') = lower(t.to_address)
         and lower(p ->> 'contractAddress') is not distinct from lower(t.contract_address) and (p ->> 'amount')::numeric = t.amount)
     order by t.sequence`,
    [network, address],
  )
  return rows.map(({ id }) => id)
}
