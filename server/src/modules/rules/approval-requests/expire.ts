import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { resolve } from './actions.ts'
import { lockRequest } from './queries.ts'

const batchMax = 100

/** Ends the requests whose time to be voted on is over. */
export async function expireRequests({ db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>): Promise<void> {
  const now = clock()
  const due = await db
    .selectFrom('approval_requests')
    .select(['vault_id', 'id'])
    .where('status', '=', 'pending')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(batchMax)
    .execute()
  for (const { vault_id: vaultId, id } of due) {
    try {
      await inTransaction(db, async (trx) => {
        const request = await lockRequest(trx, vaultId, id)
        if (request?.status !== 'pending') return
        await resolve(trx, request, { event: 'expired', actorId: null, now })
      })
    } catch (error) {
      // One that cannot be ended must not hold up those after it.
      log.error({ err: error, vaultId, requestId: id }, 'approval request not expired')
    }
  }
}
