import type pg from 'pg'
import type { Address } from 'viem'
import { eachLimited } from '../each-limited.ts'
import type { Node } from './node.ts'

/**
 * After the chain went back, marks the stored transactions that it no longer contains, including settled ones, so that the
 * same bytes are sent again in the order of their nonces. Returns how many were marked.
 */
export async function resendLostTransfers(pool: pg.Pool, chain: Node): Promise<number> {
  const { rows } = await pool.query<{ address: Address; next_nonce: string }>(
    'select address, next_nonce from wallet.nonces where network = $1 and next_nonce > 0',
    [chain.network],
  )
  let marked = 0
  await eachLimited(rows, async ({ address, next_nonce }) => {
    const chainNonce = await chain.client.getTransactionCount({ address, blockTag: 'latest' })
    if (BigInt(chainNonce) >= BigInt(next_nonce)) return
    const { rowCount } = await pool.query(
      `update wallet.transfers set resend = true, attempts = 0, next_attempt_at = clock_timestamp()
       where network = $1 and from_address = $2 and nonce >= $3`,
      [chain.network, address, chainNonce],
    )
    marked += rowCount ?? 0
  })
  return marked
}
