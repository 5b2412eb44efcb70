import { addDays, dayOf, isDay } from '../../lib/day.ts'
import type { ActivityFilter, FilterName } from './filter.ts'

/** Maps each filter of this feed to the filter of the report of operations. */
const names: Partial<Record<FilterName, string>> = {
  statuses: 'statuses',
  flowType: 'flowTypes',
  tokenId: 'tokenIds',
  network: 'networkIds',
  addressId: 'ownAddressIds',
  folderId: 'folderIds',
  counterpartyId: 'counterpartyIds',
  counterpartyGroupId: 'counterpartyGroupIds',
  category: 'categories',
  initiatorId: 'initiatorIds',
  userId: 'userId',
}

/** Returns the page that exports the filtered operations, as far as the report has the same filters. */
export function exportPath(code: string, filter: ActivityFilter, now: Date = new Date()): string {
  const search = new URLSearchParams({ includeShared: filter.includeShared ?? 'true' })
  for (const [name, value] of Object.entries(filter) as [FilterName, string][]) {
    const known = names[name]
    if (known !== undefined) search.set(known, value)
  }
  const { from, to } = filter
  if (from !== undefined || to !== undefined) {
    const until = to === undefined ? dayOf(now) : localDay(to)
    search.set('from', from === undefined ? addDays(until, -365) : localDay(from))
    search.set('until', until)
  }
  return `/v/${code}/reports/operations?${search}`
}

function localDay(value: string): string {
  return isDay(value) ? value : dayOf(new Date(value))
}
