import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from './api.ts'

/** What the reader is in a vault, and what they may ask for. */
export function membershipQuery(code: string) {
  return queryOptions({
    queryKey: ['membership', code],
    queryFn: ({ signal }) => vaultOf(code).me.get({ signal }),
    staleTime: 60_000,
  })
}

/** Members whose name or e-mail address fits what somebody types. */
export function memberSearchQuery(code: string, search: string) {
  return queryOptions({
    queryKey: ['members', code, 'search', search],
    queryFn: async ({ signal }) => {
      const text = search === '' ? {} : { search }
      return (
        await vaultOf(code)
          .members.list({ limit: 20, ...text }, { signal })
          .page()
      ).items
    },
  })
}

/** The policy groups of a vault, which are few. */
export function groupsQuery(code: string) {
  return queryOptions({
    queryKey: ['policy-groups', code, 'all'],
    queryFn: async ({ signal }) => {
      const groups = []
      for await (const group of vaultOf(code).policyGroups.list({ limit: 100 }, { signal })) groups.push(group)
      return groups
    },
    staleTime: 60_000,
  })
}
