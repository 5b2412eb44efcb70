import type { HistoryItem } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { allOf } from '../../lib/all.ts'
import { strongroom, vaultOf } from '../../lib/api.ts'
import { addDays, dayOf } from '../../lib/day.ts'
import { zone } from '../../lib/time.ts'
import { type ActivityFilter, queryOf } from './filter.ts'

/** A page may be empty although others follow. The list continues by itself over this many empty pages. */
const emptyPagesMax = 5

export type ActivityPage = { items: HistoryItem[]; nextCursor: string | null }

export function activityQuery(code: string, filter: ActivityFilter) {
  return infiniteQueryOptions({
    queryKey: ['history', code, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => loadPage(code, filter, pageParam, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
}

async function loadPage(
  code: string,
  filter: ActivityFilter,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ActivityPage> {
  let next = cursor
  for (let empty = 0; ; empty += 1) {
    const at = next === undefined ? {} : { cursor: next }
    const page = await vaultOf(code)
      .history.list({ ...queryOf(filter), ...at, limit: 100 }, { signal })
      .page()
    if (page.items.length > 0 || page.nextCursor === null || empty === emptyPagesMax) return page
    next = page.nextCursor
  }
}

/** The counterparty or address whose operations a page shows. */
export type Subject = { counterpartyId: string } | { addressId: string }

export function newestQuery(code: string, subject: Subject) {
  return queryOptions({
    queryKey: ['history', code, 'newest', subject],
    queryFn: ({ signal }) =>
      vaultOf(code)
        .history.list({ ...subject, limit: 5, includeShared: true }, { signal })
        .page(),
  })
}

/** Reads the sums of the confirmed operations since a day of the reader. */
export function sumsQuery(code: string, subject: Subject, from: string) {
  const to = addDays(dayOf(new Date()), 1)
  const query = { from, to, timezone: zone, groupBy: 'month' as const, statuses: ['confirmed'], includeShared: true }
  return queryOptions({
    queryKey: ['reports', code, 'sums', subject, from],
    queryFn: ({ signal }) => {
      const { reports } = vaultOf(code)
      return 'addressId' in subject
        ? reports.addressActivity({ ...query, ...subject }, { signal })
        : reports.counterpartyActivity({ ...query, ...subject }, { signal })
    },
    staleTime: 60_000,
  })
}

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => allOf(strongroom.tokens.list({ limit: 100 }, { signal })),
  staleTime: 300_000,
})

/** Counterparties that a filter offers. */
export function counterpartyChoicesQuery(code: string) {
  return queryOptions({
    queryKey: ['counterparties', code, 'choices'],
    queryFn: async ({ signal }) => (await vaultOf(code).counterparties.list({ limit: 100 }, { signal }).page()).items,
    staleTime: 60_000,
  })
}

/** Members that a filter offers as initiators. */
export function membersQuery(code: string) {
  return queryOptions({
    queryKey: ['members', code, 'choices'],
    queryFn: ({ signal }) => allOf(vaultOf(code).members.list({ limit: 100 }, { signal })),
    staleTime: 60_000,
  })
}
