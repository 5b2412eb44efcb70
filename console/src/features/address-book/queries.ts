import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import type { Kind } from '../../lib/counterparty-kinds.ts'

export type CounterpartyFilter = {
  search?: string | undefined
  kind?: Kind | undefined
  groupId?: string | undefined
  archived?: boolean | undefined
}

export function counterpartiesQuery(code: string, filter: CounterpartyFilter) {
  const filters = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ''))
  return infiniteQueryOptions({
    queryKey: ['counterparties', code, filters],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .counterparties.list({ ...filters, limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

/** Finds the first counterparties that match the typed text: a name, a label or a part of an address. */
export function counterpartySearchQuery(code: string, search: string, limit = 20) {
  return queryOptions({
    queryKey: ['counterparties', code, 'search', search, limit],
    queryFn: async ({ signal }) => {
      const text = search === '' ? {} : { search }
      const { items } = await vaultOf(code)
        .counterparties.list({ archived: false, limit, ...text }, { signal })
        .page()
      return items
    },
  })
}

export function counterpartyQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['counterparties', code, id],
    queryFn: ({ signal }) => vaultOf(code).counterparties.get(id, { signal }),
  })
}

export function counterpartyGroupsQuery(code: string, archived: boolean) {
  return infiniteQueryOptions({
    queryKey: ['counterparty-groups', code, { archived }],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .counterpartyGroups.list({ archived, limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

export function counterpartyGroupQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['counterparty-groups', code, id],
    queryFn: ({ signal }) => vaultOf(code).counterpartyGroups.get(id, { signal }),
  })
}

export function counterpartyGroupMembersQuery(code: string, id: string) {
  return infiniteQueryOptions({
    queryKey: ['counterparty-groups', code, id, 'members'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .counterpartyGroups.listMembers(id, { limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}
