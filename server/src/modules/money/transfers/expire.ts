import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { move } from './actions.ts'
import { haltUnlessAsRecorded } from './halt.ts'
import { lockTransfer } from './queries.ts'

const batchMax = 100

/** Rejects the transfers whose time to be approved is over and gives their funds back. */
export async function expireTransfers(deps: Deps): Promise<void> {
  const now = deps.clock()
  const due = await deps.db
    .selectFrom('transfers')
    .select(['vault_id', 'id'])
    .where('phase', '=', 'waiting')
    .where('expires_at', '<=', now)
    .limit(batchMax)
    .execute()
  for (const { vault_id: vaultId, id } of due) {
    try {
      await expireTransfer(deps, vaultId, id, now)
    } catch (error) {
      // One that cannot be moved must not hold up those after it.
      deps.log.error({ err: error, vaultId, transferId: id }, 'transfer not expired')
    }
  }
}

async function expireTransfer(deps: Deps, vaultId: string, id: string, now: Date): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer === null || transfer.status !== 'awaiting_approval' || transfer.phase === 'halted') return
    if ('haltReason' in (await haltUnlessAsRecorded(trx, deps, { vaultId, id }))) return
    await move(trx, { vaultId, id, transfer, event: 'expired', actorId: null, now, failureReason: 'APPROVAL_EXPIRED' })
  })
}
