import { sql } from 'kysely'
import { isOneOf } from '../../../db/one-of.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { leastIdAt } from '../../../lib/ids.ts'
import { sentPhases } from '../../../lib/operations.ts'
import { notifyOfDelay } from '../../record/notifications/notification-rows.ts'

const stuckMax = 100

/** Marks the transfers that the wallet service has had for too long, and mails the initiator of each once. */
export async function noteStuckTransfers({ db, clock, config, log }: Deps): Promise<void> {
  await inTransaction(db, async (trx) => {
    const now = clock()
    const orderedBefore = new Date(now.getTime() - config.stuckAfterMinutes * 60_000)
    const pause = `${config.stuckAfterMinutes} minutes`
    // Only unfinished transfers that were ordered long enough ago are read, through the queues.
    const { rows } = await sql<{ vaultId: string; subjectId: string; initiatorId: string }>`
      update transfers t set stuck_since = d.stuck_since
      from (
        select s.vault_id, s.id, coalesce(s.sent_at, s.created_at) + ${pause}::interval as stuck_since from deliveries q
        join transfers s on s.vault_id = q.vault_id and s.id = q.id and ${isOneOf('s.phase', sentPhases)}
        where q.queue in ('hand-over', 'follow') and q.id < ${leastIdAt(orderedBefore)} and s.stuck_since is null
          and coalesce(s.sent_at, s.created_at) <= ${orderedBefore}
        order by s.vault_id, s.id limit ${stuckMax} for update of s skip locked
      ) d
      where t.vault_id = d.vault_id and t.id = d.id
      returning t.vault_id as "vaultId", t.id as "subjectId", t.payload ->> 'initiatorId' as "initiatorId"`.execute(trx)
    for (const transfer of rows) {
      log.warn({ transferId: transfer.subjectId, vaultId: transfer.vaultId }, 'transfer stuck')
      await notifyOfDelay(trx, { ...transfer, subjectType: 'transfer' }, now)
    }
  })
}
