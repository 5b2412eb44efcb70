import type pg from 'pg'
import type { Movement, UnknownTransaction } from '../chains/chain.ts'

/** Stores each transaction once. It is listed as accepted from then on. */
export async function storeUnknownTransactions(
  tx: pg.PoolClient,
  network: string,
  transactions: UnknownTransaction[],
): Promise<void> {
  for (const { client_id, hash, sender, nonce, block, fee, payments } of transactions)
    await tx.query(
      `insert into wallet.unknown_transactions (network, tx_hash, client_id, from_address, nonce, block_number, fee, payments)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [network, hash, client_id, sender, nonce, block.toString(), fee.toString(), JSON.stringify(payments.map(toJson))],
    )
}

const toJson = ({ toAddress, contract, amount }: Movement) => ({
  toAddress,
  contractAddress: contract,
  amount: amount.toString(),
})
