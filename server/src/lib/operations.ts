/** The types, statuses and phases of operations. Schemas, types and SQL take these lists from here. */

export const operationTypes = ['transfer', 'deposit'] as const
export type OperationType = (typeof operationTypes)[number]

/** A deposit is confirmed, or failed when the chain took it back. Transfers use all statuses. */
export const operationStatuses = [
  'awaiting_approval',
  'pending',
  'confirmed',
  'failed',
  'rejected',
  'cancelled',
] as const
export type OperationStatus = (typeof operationStatuses)[number]

/** `internal` means between two addresses of the vault. */
export const flowTypes = ['internal', 'external'] as const
export type FlowType = (typeof flowTypes)[number]

/**
 * The phases of the delivery of a transfer: it waits for votes, is queued, may have been sent, was accepted by the wallet
 * service, has a transaction hash, was halted until people decide, or has ended.
 */
export const phases = ['waiting', 'queued', 'submitting', 'submitted', 'broadcast', 'halted', 'done'] as const
export type Phase = (typeof phases)[number]

/** The phases in which a transfer may have been sent and has not ended, and those in which the delivery works on it. */
export const sentPhases = ['submitting', 'submitted', 'broadcast'] as const satisfies Phase[]
export const openPhases = ['queued', ...sentPhases] as const satisfies Phase[]

/** The queues of transfers that have not ended: they wait for votes, for their hand-over, for an answer, or for people. */
export const queues = ['votes', 'hand-over', 'follow', 'halted'] as const
export type Queue = (typeof queues)[number]
