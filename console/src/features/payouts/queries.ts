import type { Payout } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

export type PayoutStatus = Payout['status']

export function payoutsQuery(code: string, status: PayoutStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: ['payouts', code, { status }],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .payouts.list({ limit: 100, ...(status && { status }), ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

export function payoutQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['payouts', code, id],
    queryFn: ({ signal }) => vaultOf(code).payouts.get(id, { signal }),
  })
}

export function payoutRowsQuery(code: string, id: string) {
  return infiniteQueryOptions({
    queryKey: ['payouts', code, id, 'rows'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .payouts.listRows(id, { limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}
