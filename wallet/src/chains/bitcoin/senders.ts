import type pg from 'pg'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import { lockNonce } from '../nonces.ts'

type Sender = Pick<TransferRow, 'network' | 'from_address'>

/**
 * Locks the outputs of an address. Returns the number of its next payment, and a transaction that somebody else signed with its key and
 * that no operator has accepted.
 */
export async function lockSender(tx: pg.PoolClient, sender: Sender): Promise<{ next: number; unknown: string | null }> {
  const next = await lockNonce(tx, sender)
  return { next, unknown: await findUnknown(tx, sender, next) }
}

/** Finds a transaction that somebody else signed with the key of the address. `next` is the number of its next payment. */
export async function findUnknown(db: pg.Pool | pg.PoolClient, sender: Sender, next: number): Promise<string | null> {
  const { rows } = await db.query<{ tx_hash: string }>(
    'select tx_hash from wallet.unknown_transactions where network = $1 and from_address = $2 and nonce >= $3 limit 1',
    [sender.network, sender.from_address, next],
  )
  return rows[0]?.tx_hash ?? null
}
