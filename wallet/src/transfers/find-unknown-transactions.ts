import type pg from 'pg'
import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import type { SentTransaction } from '../chains/block.ts'
import type { Chain } from '../chains/open-chain.ts'
import { findMovements, type Movement } from '../deposits/find-movements.ts'

type Parts = { pool: pg.Pool; chain: Chain; log: Logger }
type Stranger = { client_id: string; hash: Hex; sender: Address; nonce: string }

/** A mined transaction of a client's address that this database has no record of. */
export type UnknownTransaction = Stranger & { block: bigint; fee: bigint; payments: Movement[] }

/**
 * Finds those of the transactions that addresses of clients sent, and that were not signed here: the database was restored to an earlier
 * time, or somebody else has the key. A transaction is stored before it is broadcast, so one of this wallet service is never among them.
 */
export async function findUnknownTransactions(
  { pool, chain, log }: Parts,
  sent: SentTransaction[],
): Promise<UnknownTransaction[]> {
  if (sent.length === 0) return []
  const { rows } = await pool.query<Stranger>({
    name: 'find-unknown-transactions',
    text: `select a.client_id, s.hash, s.sender, s.nonce
           from unnest($2::text[], $3::text[], $4::bigint[]) as s (hash, sender, nonce)
           join wallet.addresses a on a.network = $1 and a.address = s.sender
           where not exists (select from wallet.transactions t where t.tx_hash = s.hash)`,
    values: [chain.network, sent.map(({ hash }) => hash), sent.map(({ from }) => from), sent.map(({ nonce }) => nonce)],
  })
  const found: UnknownTransaction[] = []
  for (const stranger of rows) {
    const { hash, sender } = stranger
    const [transaction, receipt] = await Promise.all([
      chain.client.getTransaction({ hash }),
      chain.client.getTransactionReceipt({ hash }),
    ])
    const payments = findMovements(transaction, receipt).filter(({ fromAddress }) => fromAddress === sender)
    const fee = receipt.gasUsed * receipt.effectiveGasPrice
    found.push({ ...stranger, block: receipt.blockNumber, fee, payments })
    log.error({ network: chain.network, address: sender, txHash: hash }, 'a transaction that this wallet did not sign')
  }
  return found
}

/** Stores them once each; they are listed as accepted from then on. */
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
