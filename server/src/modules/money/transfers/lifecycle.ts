import type { OperationStatus } from '../../operations/feed/write.ts'

export type TransferEvent = 'approved' | 'rejected' | 'expired' | 'cancelled' | 'confirmed' | 'failed'

/** Every way a transfer may move (decisions.md, section 5); whatever is not here is a 409. */
const transitions: Record<OperationStatus, Partial<Record<TransferEvent, OperationStatus>>> = {
  awaiting_approval: { approved: 'pending', rejected: 'rejected', expired: 'rejected', cancelled: 'cancelled' },
  pending: { confirmed: 'confirmed', failed: 'failed', cancelled: 'cancelled' },
  confirmed: {},
  failed: {},
  rejected: {},
  cancelled: {},
}

/** The status that follows, or null when the event is not possible in this status. */
export function nextStatus(status: OperationStatus, event: TransferEvent): OperationStatus | null {
  return transitions[status][event] ?? null
}

/** Whether the funds go back to available when the transfer reaches this status. */
export function releasesFunds(status: OperationStatus): boolean {
  return status === 'failed' || status === 'rejected' || status === 'cancelled'
}
