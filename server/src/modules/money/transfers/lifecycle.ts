import type { OperationStatus, Phase, Queue } from '../../../lib/operations.ts'

export type TransferEvent = 'approved' | 'rejected' | 'expired' | 'cancelled' | 'confirmed' | 'failed'

/** Every transition of a transfer (contract 10.3); any other is a 409. */
const transitions: Record<OperationStatus, Partial<Record<TransferEvent, OperationStatus>>> = {
  awaiting_approval: { approved: 'pending', rejected: 'rejected', expired: 'rejected', cancelled: 'cancelled' },
  pending: { confirmed: 'confirmed', failed: 'failed', cancelled: 'cancelled' },
  confirmed: {},
  failed: {},
  rejected: {},
  cancelled: {},
}

/** Returns the next status, or null when the event is not possible in this status. */
export function nextStatus(status: OperationStatus, event: TransferEvent): OperationStatus | null {
  return transitions[status][event] ?? null
}

/** Returns true if the funds are released to available when the transfer reaches this status. */
export function releasesFunds(status: OperationStatus): boolean {
  return status === 'failed' || status === 'rejected' || status === 'cancelled'
}

/**
 * Every transition of a delivery. A phase that leads to itself is retried later; a transfer goes from `submitting` back to
 * `queued` when it was certainly not sent. Every phase leads to `halted`, because a row may be changed outside the service in
 * any phase. Two people together (contract 10.8) end a halted delivery or continue it. They may also return a transfer that the
 * wallet service forgot to `submitting`, where the wallet service is asked about it before it is sent.
 */
const nextPhases: Record<Phase, readonly Phase[]> = {
  waiting: ['queued', 'halted', 'done'],
  queued: ['queued', 'submitting', 'halted', 'done'],
  submitting: ['queued', 'submitting', 'submitted', 'broadcast', 'halted', 'done'],
  submitted: ['submitting', 'submitted', 'broadcast', 'halted', 'done'],
  broadcast: ['submitting', 'broadcast', 'halted', 'done'],
  halted: ['waiting', 'submitting', 'submitted', 'broadcast', 'halted', 'done'],
  done: ['halted'],
}

export function mayMovePhase(from: Phase, to: Phase): boolean {
  return nextPhases[from].includes(to)
}

/** Returns the queue in which a delivery of this phase waits; null when it has ended. A replacement is handed over like an order. */
export function queueOf(phase: Phase, isReplacementDue: boolean): Queue | null {
  switch (phase) {
    case 'waiting':
      return 'votes'
    case 'queued':
    case 'submitting':
      return 'hand-over'
    case 'submitted':
    case 'broadcast':
      return isReplacementDue ? 'hand-over' : 'follow'
    case 'halted':
      return 'halted'
    case 'done':
      return null
  }
}

/** Returns true if a transfer of this status may be in this phase. */
export function isPhaseOf(status: string, phase: Phase): boolean {
  if (status === 'awaiting_approval') return phase === 'waiting' || phase === 'halted'
  if (status === 'pending') return phase !== 'waiting' && phase !== 'done'
  return phase === 'done'
}

/** The reason of the halt of a transfer under whose id the wallet service has another order. It has not got this order. */
export const haltedAsOtherOrder = 'The wallet service knows this transfer with another order'
