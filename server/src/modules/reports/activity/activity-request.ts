import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { ComparisonMode } from '../blocks/comparison.ts'
import type { GroupBy } from '../requests/buckets.ts'
import { checkSteps, type ReportRequest, readReportRequest } from '../requests/report-request.ts'
import type { AddressActivityQuery } from './schema.ts'

export type ActivityRequest = ReportRequest & {
  groupBy: GroupBy
  comparison: ComparisonMode
  isBrokenDownByOwner: boolean
}

type ActivityInput = Static<typeof AddressActivityQuery> & { counterpartyId?: string; counterpartyGroupId?: string }

/** @throws 400 naming the parameter, 403 when a caller who is not an administrator names another user */
export function readActivityRequest(type: string, member: Member, query: ActivityInput, now: Date): ActivityRequest {
  const request = readReportRequest(type, member, query, now)
  const { groupBy = 'day', comparison = 'none' } = query
  checkSteps(groupBy, request)
  return { ...request, groupBy, comparison, isBrokenDownByOwner: query.breakdownBy === 'owner' }
}
