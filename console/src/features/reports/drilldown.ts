import type { ReportHeader } from '@strongroom/sdk'
import { isTaken, listOf, type ReportSearch, type SearchName } from './parameters.ts'
import type { ReportType } from './types.ts'

/** Filters of Activity, by their names there. */
export type Drilldown = Record<string, string>

/** The page that lists operations, with its filters: Activity, or the report of operations. */
export type Place = { page: 'activity' | 'operations'; search: Record<string, string> }

/** A report as it is shown. `readsAll` is true for readers of the whole vault. */
export type Shown = {
  code: string
  type: ReportType
  search: ReportSearch
  report: Pick<ReportHeader, 'from' | 'to' | 'dateBasis' | 'classificationMode'>
  readsAll: boolean
}

/** Maps a list parameter to the filter of Activity that takes one of its values. */
const single: Partial<Record<SearchName, string>> = {
  flowTypes: 'flowType',
  tokenIds: 'tokenId',
  networkIds: 'network',
  ownAddressIds: 'addressId',
  folderIds: 'folderId',
  counterpartyIds: 'counterpartyId',
  counterpartyGroupIds: 'counterpartyGroupId',
  categories: 'category',
}
const same: readonly SearchName[] = ['addressId', 'folderId', 'counterpartyId', 'counterpartyGroupId', 'userId']
const unknownToActivity: readonly SearchName[] = [
  'minimumAmount',
  'maximumAmount',
  'initiatorIds',
  'approvalPolicyIds',
  'feePayerIds',
  'feeKinds',
]
/** Activity goes by the counterparty that was recorded with the operation, a report by the address book of today. */
const ofAddressBook: readonly SearchName[] = [
  'counterpartyId',
  'counterpartyGroupId',
  'counterpartyIds',
  'counterpartyGroupIds',
]

/**
 * Returns the page that lists exactly the operations of a figure, or null if no page does.
 *
 * @param more the filters of the figure beyond those of the report
 */
export function placeOf(shown: Shown, more: Drilldown = {}): Place | null {
  // A status that the report leaves out has no operations in it.
  const chosen = shown.search.statuses
  if (chosen !== undefined && more.statuses !== undefined && !listOf(chosen).includes(more.statuses)) return null
  const activity = activityFilters(shown, more)
  if (activity !== null) return { page: 'activity', search: { ...activity, ...more } }
  const operations = operationsFilters(shown, more)
  return operations === null ? null : { page: 'operations', search: operations }
}

function activityFilters({ type, search, report, readsAll }: Shown, more: Drilldown): Drilldown | null {
  if (report.dateBasis !== 'createdAt' || unknownToActivity.some((name) => more[name] !== undefined)) return null
  const taken = (Object.entries(search) as [SearchName, string][]).filter(([name]) => isTaken(type, name))
  const isByAddressBook = more.counterpartyId !== undefined || taken.some(([name]) => ofAddressBook.includes(name))
  if (report.classificationMode === 'current' && isByAddressBook) return null
  const filters: Drilldown = { from: report.from, to: lastInstantBefore(report.to) }
  if (!readsAll && search.includeShared !== 'true') filters.includeShared = 'false'
  for (const [name, value] of taken) {
    const target = single[name]
    if (target !== undefined && more[target] !== undefined) continue
    if (unknownToActivity.includes(name) || (target !== undefined && value.includes(','))) return null
    const filter = target ?? (name === 'categoryKey' ? 'category' : same.includes(name) ? name : undefined)
    if (name === 'statuses') filters.statuses = value
    else if (filter !== undefined && (filters[filter] ?? value) !== value) return null
    else if (filter !== undefined) filters[filter] = value
  }
  if (search.includeInternal !== 'false') return filters
  return filters.flowType === 'internal' ? null : { ...filters, flowType: 'external' }
}

/** Maps a filter of a figure, or the subject of a report, to the filter of the report of operations. */
const listed: Record<string, SearchName> = {
  tokenId: 'tokenIds',
  addressId: 'ownAddressIds',
  folderId: 'folderIds',
  counterpartyId: 'counterpartyIds',
  counterpartyGroupId: 'counterpartyGroupIds',
  category: 'categories',
  categoryKey: 'categories',
  statuses: 'statuses',
  network: 'networkIds',
  approvalPolicyIds: 'approvalPolicyIds',
  feePayerIds: 'feePayerIds',
  feeKinds: 'feeKinds',
}

/** The lists of the report of operations that a figure narrows to some values. */
const lists: readonly string[] = ['statuses', 'approvalPolicyIds', 'feePayerIds', 'feeKinds']

function operationsFilters({ type, search, report }: Shown, figure: Drilldown): Record<string, string> | null {
  const filters: ReportSearch = {}
  const { from, until, ...more } = figure
  for (const [name, value] of Object.entries(search) as [SearchName, string][]) {
    const isOfEveryReport = ['period', 'from', 'until'].includes(name)
    if (isOfEveryReport || (isTaken(type, name) && isTaken('operations', name))) filters[name] = value
  }
  // Each report has its own date unless it is named.
  if (report.dateBasis !== 'createdAt') filters.dateBasis = report.dateBasis
  if (from !== undefined && until !== undefined) {
    Object.assign(filters, { from, until })
    delete filters.period
  }
  const subject = Object.entries(search).filter(([name]) => name in listed && !lists.includes(name))
  const ofReport = subject.filter(([name]) => isTaken(type, name as SearchName))
  for (const [name, value] of [...ofReport, ...Object.entries(more)]) {
    const target = listed[name]
    if (target === undefined) return null
    const permitted = listOf(filters[target] ?? value)
    if (!listOf(value).every((part) => permitted.includes(part))) return null
    filters[target] = value
  }
  return filters
}

/** Returns the parameters of the report of fees over the operations of another report. */
export function feesSearchOf(shown: Shown): ReportSearch | null {
  const filters = operationsFilters(shown, {})
  return filters === null ? null : { ...filters, dateBasis: shown.report.dateBasis }
}

/** Returns the parameters of the report of exceptions over the operations of another report; null if it cannot list exactly these. */
export function exceptionsSearchOf(shown: Shown, exceptions: string): ReportSearch | null {
  const filters = operationsFilters(shown, {})
  return filters === null ? null : { ...filters, dateBasis: shown.report.dateBasis, exceptions }
}

/** Returns the last instant of a report. The end of a report is exclusive, that of Activity is inclusive. */
function lastInstantBefore(at: string): string {
  return new Date(new Date(at).getTime() - 1).toISOString()
}
