import { Type } from 'typebox'
import { Closed, Enum, FolderFilter, Ref } from '../../../../http/schema.ts'
import { ActivityApprovals } from '../blocks/approvals.ts'
import { ActivityByAddressOwner } from '../blocks/by-address-owner.ts'
import { ActivityByAsset } from '../blocks/by-asset.ts'
import { ActivityByCategory } from '../blocks/by-category.ts'
import { ActivityByCounterparty } from '../blocks/by-counterparty.ts'
import { ActivityByOwnAddress } from '../blocks/by-own-address.ts'
import { ActivityByStatus } from '../blocks/by-status.ts'
import { comparisonModes, ReportComparison } from '../blocks/comparison.ts'
import { ReportDataQuality } from '../blocks/data-quality.ts'
import { ReportObservation } from '../blocks/observations.ts'
import { ActivitySummary } from '../blocks/summary.ts'
import { ActivityPeriod } from '../blocks/timeline.ts'
import { groupings } from '../buckets.ts'
import { commonQuery, filters, Key } from '../query-schema.ts'
import { ReportHeader } from '../schema.ts'

export const engineQuery = {
  ...commonQuery,
  ...filters,
  groupBy: Type.Optional(Enum(groupings)),
  comparison: Type.Optional(Enum(comparisonModes)),
  breakdownBy: Type.Optional(Enum(['owner'])),
}

export const TransactionActivityQuery = Closed(engineQuery)

export const AddressActivityQuery = Closed({
  ...engineQuery,
  addressId: Key('The address that the report is about.'),
  folderId: FolderFilter,
})

export const CounterpartyActivityQuery = Closed({
  ...engineQuery,
  counterpartyId: Type.String({ minLength: 1, maxLength: 128 }),
})

export const CounterpartyGroupActivityQuery = Closed({
  ...engineQuery,
  counterpartyGroupId: Type.String({ minLength: 1, maxLength: 128 }),
})

/** The blocks of every activity report. */
export const activityBlocks = {
  report: Ref(ReportHeader),
  summary: Ref(ActivitySummary),
  byAsset: Type.Array(Ref(ActivityByAsset)),
  byCounterparty: Type.Array(Ref(ActivityByCounterparty)),
  byOwnAddress: Type.Array(Ref(ActivityByOwnAddress)),
  byStatus: Type.Array(Ref(ActivityByStatus)),
  byCategory: Type.Array(Ref(ActivityByCategory)),
  byAddressOwner: Type.Optional(Type.Array(Ref(ActivityByAddressOwner))),
  timeline: Type.Array(Ref(ActivityPeriod)),
  approvals: Ref(ActivityApprovals),
  observations: Type.Array(Ref(ReportObservation)),
  dataQuality: Ref(ReportDataQuality),
  comparison: Ref(ReportComparison),
}

export const AddressActivityReport = Closed(activityBlocks, { $id: 'AddressActivityReport' })
export const CounterpartyActivityReport = Closed(activityBlocks, { $id: 'CounterpartyActivityReport' })
export const CounterpartyGroupActivityReport = Closed(activityBlocks, { $id: 'CounterpartyGroupActivityReport' })
export const TransactionActivityReport = Closed(activityBlocks, { $id: 'TransactionActivityReport' })

/** The components that activity reports refer to, in the order of the documentation. */
export const activityComponents = [
  ActivitySummary,
  ActivityByAsset,
  ActivityByCounterparty,
  ActivityByOwnAddress,
  ActivityByStatus,
  ActivityByCategory,
  ActivityByAddressOwner,
  ActivityPeriod,
  ActivityApprovals,
  ReportObservation,
  ReportDataQuality,
  ReportComparison,
]
