import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'

type AddressFilter = {
  search?: string | undefined
  folderId?: string | undefined
  token?: string | undefined
  access?: 'own' | 'shared' | 'all' | undefined
}

export function addressesQuery(code: string, filter: AddressFilter) {
  const filters = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ''))
  return infiniteQueryOptions({
    queryKey: ['addresses', code, filters],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .addresses.list({ ...filters, limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Finds the first addresses that match the typed text. */
export function addressSearchQuery(code: string, search: string, limit = 20) {
  return queryOptions({
    queryKey: ['addresses', code, 'search', search, limit],
    queryFn: async ({ signal }) => {
      const text = search === '' ? {} : { search }
      const { items } = await vaultOf(code)
        .addresses.list({ access: 'all', limit, ...text }, { signal })
        .page()
      return items
    },
  })
}

export function addressQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['addresses', code, id],
    queryFn: ({ signal }) => vaultOf(code).addresses.get(id, { signal }),
  })
}

export function addressGrantsQuery(code: string, id: string) {
  return infiniteQueryOptions({
    queryKey: ['addresses', code, id, 'grants'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .addresses.listGrants(id, { limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Reads the structure of the vault: its networks and the segments of its addresses. */
export function structureQuery(code: string) {
  return queryOptions({
    queryKey: ['vault', code],
    queryFn: ({ signal }) => vaultOf(code).get({ signal }),
    staleTime: 300_000,
  })
}

/** All tokens of the installation; they are registered by hand and few. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: async ({ signal }) => {
    const tokens = []
    for await (const token of strongroom.tokens.list({ limit: 100 }, { signal })) tokens.push(token)
    return tokens
  },
  staleTime: 300_000,
})

export function pastBalanceQuery(code: string, addressId: string, tokenId: string, at: string) {
  return queryOptions({
    queryKey: ['balances', code, 'past', addressId, tokenId, at],
    queryFn: ({ signal }) => vaultOf(code).ledger.getPastBalance({ addressId, tokenId, at }, { signal }),
  })
}
