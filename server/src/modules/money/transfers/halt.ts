import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/write.ts'
import type { RecordedSubject } from '../../rules/votes/subject.ts'
import { compareWithRecord, type RecordedOrder } from './compare-record.ts'
import { movePhase } from './move.ts'
import { type LockedTransfer, listStoredOrders, type StoredOrder } from './queries.ts'

type Log = Deps['log']

/** Compares transfers with their audit records; one that differs is halted, which the caller must commit. */
export const recordedTransfers = (log: Log): RecordedSubject<LockedTransfer, StoredOrder, RecordedOrder> => ({
  type: 'transfer',
  noun: 'transfer',
  listStored: listStoredOrders,
  compare: compareWithRecord,
  async stop(trx, transfer, reason, now) {
    await haltTransfer(trx, log, transfer, reason, now)
    return conflict('The transfer is halted', reason)
  },
})

/** Stops a locked transfer for good: the funds stay reserved, an alert is sent, and people decide. */
export async function haltTransfer(
  trx: Trx,
  log: Log,
  transfer: LockedTransfer,
  reason: string,
  now: Date,
): Promise<void> {
  await movePhase(trx, transfer, 'halted', { halt_reason: reason, next_attempt_at: null })
  await raiseAlarm(trx, log, transfer, reason, now)
}

/** Leaves a locked transfer in its phase, with its funds, until the next attempt, and sends an alert about it. */
export async function holdTransfer(
  trx: Trx,
  log: Log,
  transfer: LockedTransfer,
  reason: string,
  { now, nextAttemptAt }: { now: Date; nextAttemptAt: Date },
): Promise<void> {
  await movePhase(trx, transfer, transfer.phase, { halt_reason: reason, next_attempt_at: nextAttemptAt })
  await raiseAlarm(trx, log, transfer, reason, now)
}

/** Once for each reason: to the audit log, to the log, and by mail to administrators. */
async function raiseAlarm(
  trx: Trx,
  log: Log,
  { vault_id: vaultId, id, halt_reason }: LockedTransfer,
  reason: string,
  now: Date,
): Promise<void> {
  if (halt_reason === reason) return
  log.error({ transferId: id, vaultId, reason }, 'transfer halted')
  await audit(trx, { vaultId, actorId: null, now }, 'transfer.halted', { type: 'transfer', id }, { reason })
  await notifyOfStop(trx, { vaultId, subjectType: 'transfer', subjectId: id }, now)
}
