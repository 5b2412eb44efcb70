export const requestStatuses = ['pending', 'applied', 'rejected', 'cancelled', 'expired', 'failed', 'stale'] as const

export type RequestStatus = (typeof requestStatuses)[number]

export type RequestEvent = 'approved' | 'rejected' | 'cancelled' | 'expired' | 'applyFailed' | 'targetChanged'

/** The transitions of a request (contract 11.2). A resolved request never changes. */
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
