import type { Db } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { movePhase } from '../transfers/move.ts'
import { lockTransfer } from '../transfers/queries.ts'

/**
 * Records that a queued transfer was handed over before the books were restored from a backup. From then on the wallet service is asked
 * about the transfer, and no objection ends it. Returns false when the transfer is not queued.
 */
export async function noteHandedOver(db: Db, vaultId: string, id: string, now: Date): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer?.status !== 'pending' || transfer.phase !== 'queued') return false
    await movePhase(trx, transfer, 'submitting', { sent_at: now, next_attempt_at: now })
    return true
  })
}
