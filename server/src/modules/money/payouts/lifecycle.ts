export const payoutStatuses = ['awaiting_approval', 'approved', 'rejected', 'cancelled', 'expired', 'halted'] as const

/**
 * A payout waits for votes or was decided; what then becomes of each transfer is its own status. It is halted for good when
 * it differs from its audit record.
 */
export type PayoutStatus = (typeof payoutStatuses)[number]
