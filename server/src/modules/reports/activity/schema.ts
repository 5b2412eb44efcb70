import { Type } from 'typebox'
import { Closed, described, Enum, FolderFilter, Ref } from '../../../http/schema.ts'
import { ActivityApprovals } from '../blocks/approvals.ts'
import {
  ActivityByAddressOwner,
  ActivityByAsset,
  ActivityByCategory,
  ActivityByCounterparty,
  ActivityByOwnAddress,
  ActivityByStatus,
  ActivityPeriod,
} from '../blocks/breakdowns.ts'
import { comparisonModes, ReportComparison } from '../blocks/comparison.ts'
import { ReportDataQuality } from '../blocks/data-quality.ts'
import { ReportObservation } from '../blocks/observations.ts'
import { ActivitySummary } from '../blocks/summary.ts'
import { groupings } from '../requests/buckets.ts'
import { commonQuery, filters, Key, ReportHeader, RequiredKey } from '../requests/schema.ts'

const engineQuery = {
  ...commonQuery,
  ...filters,
  groupBy: Type.Optional(Enum(groupings)),
  comparison: Type.Optional(Enum(comparisonModes)),
  breakdownBy: Type.Optional(Enum(['owner'])),
}

export const TransactionActivityQuery = Closed(engineQuery)

export const AddressActivityQuery = Closed(
  {
    ...engineQuery,
    addressId: Key('The address that the report is about.'),
    folderId: FolderFilter,
  },
  {
    examples: [
      {
        addressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
        from: '2026-01-01',
        to: '2026-02-01',
        timezone: 'Europe/Berlin',
        groupBy: 'week',
        comparison: 'previous_period',
      },
    ],
  },
)

export const CounterpartyActivityQuery = Closed({
  ...engineQuery,
  counterpartyId: RequiredKey('Identifier of the counterparty that the report is about.'),
})

export const CounterpartyGroupActivityQuery = Closed({
  ...engineQuery,
  counterpartyGroupId: RequiredKey('Identifier of the counterparty group that the report is about.'),
})

/** The blocks of every activity report. */
export const activityBlocks = {
  report: Ref(ReportHeader),
  summary: Ref(ActivitySummary),
  byAsset: described(Type.Array(Ref(ActivityByAsset)), 'Figures per token.'),
  byCounterparty: described(Type.Array(Ref(ActivityByCounterparty)), 'Figures per counterparty.'),
  byOwnAddress: described(Type.Array(Ref(ActivityByOwnAddress)), 'Figures per address of the vault.'),
  byStatus: described(Type.Array(Ref(ActivityByStatus)), 'Figures per status; all operations count here.'),
  byCategory: described(Type.Array(Ref(ActivityByCategory)), 'Figures per category that the caller sees.'),
  byAddressOwner: Type.Optional(
    described(
      Type.Array(Ref(ActivityByAddressOwner)),
      'Figures per owner of addresses; only with `breakdownBy=owner`.',
    ),
  ),
  timeline: described(Type.Array(Ref(ActivityPeriod)), 'Figures per day, week or month; empty periods are included.'),
  approvals: Ref(ActivityApprovals),
  observations: described(Type.Array(Ref(ReportObservation)), 'Observations that deserve attention.'),
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
