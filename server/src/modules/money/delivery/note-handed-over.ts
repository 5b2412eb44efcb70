import type { Db } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { movePhase } from '../transfers/move.ts'
import { lockTransfer } from '../transfers/queries.ts'

/**
 * Records that a transfer which waits for its hand-over was handed over, as restored books do not know. From then on it is asked about, and
 * never failed for a reason of the books. Returns false when it does not wait for its hand-over.
 */
export async function noteHandedOver(db: Db, vaultId: string, id: string, now: Date): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer?.status !== 'pending' || transfer.phase !== 'queued') return false
    await movePhase(trx, transfer, 'submitting', { sent_at: now, next_attempt_at: now })
    return true
  })
}
