/** What an operation can be. Schemas, types and SQL take these lists from here. */

export const operationTypes = ['transfer', 'deposit'] as const
export type OperationType = (typeof operationTypes)[number]

/** A deposit is confirmed, or failed when the chain took it back; a transfer goes through the others. */
export const operationStatuses = [
  'awaiting_approval',
  'pending',
  'confirmed',
  'failed',
  'rejected',
  'cancelled',
] as const
export type OperationStatus = (typeof operationStatuses)[number]

/** `internal`: between two addresses of the vault. */
export const flowTypes = ['internal', 'external'] as const
export type FlowType = (typeof flowTypes)[number]
