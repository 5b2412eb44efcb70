import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/write.ts'
import { compareWithRecord, type RecordedOrder } from './compare-record.ts'
import { listStoredOrders } from './queries.ts'

export type Alarm = Pick<Deps, 'log' | 'clock'>
type TransferKey = { vaultId: string; id: string }

/**
 * Compares a locked transfer with its audit records. A difference halts the transfer, which the caller must commit.
 * Returns the recorded order, or why it was halted.
 */
export async function haltUnlessAsRecorded(
  trx: Trx,
  alarm: Alarm,
  key: TransferKey,
): Promise<{ order: RecordedOrder } | { haltReason: string }> {
  const [stored] = await listStoredOrders(trx, key.vaultId, [key.id])
  const compared = compareWithRecord(stored!, await listRecordsOf(trx, key.vaultId, 'transfer', [key.id]))
  if ('order' in compared) return compared
  const haltReason = `The transfer is not what was recorded: ${compared.difference}`
  await haltTransfer(trx, alarm, key, haltReason)
  return { haltReason }
}

/** Stops a transfer for good: the funds stay reserved, an alarm is raised, people decide. */
export async function haltTransfer(trx: Trx, alarm: Alarm, key: TransferKey, reason: string): Promise<void> {
  await trx
    .updateTable('transfers')
    .set({ phase: 'halted', next_attempt_at: null })
    .where('vault_id', '=', key.vaultId)
    .where('id', '=', key.id)
    .execute()
  await noteHaltReason(trx, alarm, key, reason)
}

/** Raises the alarm about a transfer, once for each reason: on the record, in the log, and by mail to administrators. */
export async function noteHaltReason(
  trx: Trx,
  { log, clock }: Alarm,
  { vaultId, id }: TransferKey,
  reason: string,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update transfers set halt_reason = ${reason}
    where vault_id = ${vaultId} and id = ${id} and halt_reason is distinct from ${reason}`.execute(trx)
  if (numAffectedRows === 0n) return
  const now = clock()
  log.error({ transferId: id, vaultId, reason }, 'transfer halted')
  await insertAuditRecord(trx, {
    vaultId,
    actorId: null,
    action: 'transfer.halted',
    targetType: 'transfer',
    targetId: id,
    details: { reason },
    now,
  })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId: id }, now)
}
