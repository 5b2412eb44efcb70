export const requestStatuses = ['pending', 'applied', 'rejected', 'cancelled', 'expired', 'failed', 'stale'] as const

export type RequestStatus = (typeof requestStatuses)[number]

export type RequestEvent = 'approved' | 'rejected' | 'cancelled' | 'expired' | 'applyFailed' | 'targetChanged'

/** Every way a request may move (contract 11.2): once it is resolved it stays so. */
const fromPending: Record<RequestEvent, RequestStatus> = {
  approved: 'applied',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  applyFailed: 'failed',
  targetChanged: 'stale',
}

/** The status that follows, or null when the event is not possible in this status. */
export function nextStatus(status: RequestStatus, event: RequestEvent): RequestStatus | null {
  return status === 'pending' ? fromPending[event] : null
}
