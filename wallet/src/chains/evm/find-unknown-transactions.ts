import type pg from 'pg'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { UnknownTransaction } from '../chain.ts'
import type { SentTransaction } from './block.ts'
import { findMovements } from './find-movements.ts'
import type { Node } from './node.ts'
import { feeOf } from './receipt-fee.ts'

type Parts = { pool: pg.Pool; chain: Node; log: Logger }
type Stranger = { client_id: string; hash: Hex; sender: string; nonce: string }

/**
 * Finds the transactions that addresses of clients sent and that were not signed here: the database was restored to an earlier time, or
 * somebody else has the key. This wallet service stores its transactions before it broadcasts them, so they are never among these.
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
    found.push({ ...stranger, block: receipt.blockNumber, fee: feeOf(receipt), payments })
    log.error({ network: chain.network, address: sender, txHash: hash }, 'a transaction that this wallet did not sign')
  }
  return found
}
