import type pg from 'pg'
import type { Address } from 'viem'

/**
 * Records that transactions unknown to the wallet have used the nonces below `nextNonce`. An operator calls it after a restore
 * from an older backup, and compares the history of the address with the ledger first. Returns false if the nonce would fall.
 */
export async function acceptNonce(
  pool: pg.Pool,
  { network, address, nextNonce }: { network: string; address: Address; nextNonce: number },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into wallet.nonces (network, address, next_nonce)
     select network, address, $3 from wallet.addresses where network = $1 and address = $2
     on conflict (network, address) do update set next_nonce = excluded.next_nonce
     where nonces.next_nonce < excluded.next_nonce`,
    [network, address, nextNonce],
  )
  return rowCount === 1
}
