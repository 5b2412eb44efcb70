import type { Address, Payout } from '@strongroom/sdk'
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

const payersMax = 1_000

/** Reads the addresses that the viewer may pay from and that have something to pay. */
export function payersQuery(code: string) {
  return queryOptions({
    queryKey: ['addresses', code, 'payers'],
    queryFn: async ({ signal }) => {
      const payers: Address[] = []
      for await (const address of vaultOf(code).addresses.list({ access: 'all', limit: 100 }, { signal })) {
        if (address.access.canTransfer && address.balances.length > 0) payers.push(address)
        if (payers.length >= payersMax) break
      }
      return payers
    },
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
