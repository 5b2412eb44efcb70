import type { FlowType, OperationStatus, OperationType } from '../../../lib/operations.ts'

/** The filters of a list of operations. A null filter is not applied. The folder is part of the scope. */
export type FeedFilters = {
  /** Only transfers of other initiators, from any address, that wait for the vote of this caller. */
  awaitingApprovalOf: string | null
  type: OperationType | null
  statuses: OperationStatus[] | null
  /** True if `statuses` select deposits too. Null means that `statuses` leave out all deposits. */
  hasDepositsOfStatus: true | null
  /** The code of a token. */
  asset: string | null
  tokenId: string | null
  /** The slug of a network. */
  network: string | null
  addressId: string | null
  flowType: FlowType | null
  counterpartyId: string | null
  /** Only operations of counterparties that are in this group now. */
  counterpartyGroupId: string | null
  counterpartyAddressId: string | null
  /** The key of a category. The list has the operations with an assignment of it that the viewer may see. */
  category: string | null
  paymentPurpose: string | null
  decisionPolicyId: string | null
  txHash: string | null
  initiatorId: string | null
  /** Raw amounts of one token, inclusive. */
  minimumAmount: string | null
  maximumAmount: string | null
  /** Text in the purpose, the note or the name of the counterparty; from six characters on also in the hash or the other address. */
  search: string | null
  /** Both bounds are inclusive. */
  from: Date | null
  to: Date | null
}

export type FeedLimits = {
  windowRows: number
  mergedRangesMax: number
  gatheredRows: number
  gatheringsMax: number
  scannedRows: number
}

export const noFilters: FeedFilters = {
  awaitingApprovalOf: null,
  type: null,
  statuses: null,
  hasDepositsOfStatus: null,
  asset: null,
  tokenId: null,
  network: null,
  addressId: null,
  flowType: null,
  counterpartyId: null,
  counterpartyGroupId: null,
  counterpartyAddressId: null,
  category: null,
  paymentPurpose: null,
  decisionPolicyId: null,
  txHash: null,
  initiatorId: null,
  minimumAmount: null,
  maximumAmount: null,
  search: null,
  from: null,
  to: null,
}
