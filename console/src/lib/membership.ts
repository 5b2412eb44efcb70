import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from './api.ts'

/** Reads the role of the reader in a vault, and the actions that they may request. */
export function membershipQuery(code: string) {
  return queryOptions({
    queryKey: ['membership', code],
    queryFn: ({ signal }) => vaultOf(code).me.get({ signal }),
    staleTime: 60_000,
  })
}

/** Finds members whose name or e-mail address matches the typed text. */
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

/** Reads the policy groups of a vault, which are few. */
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
