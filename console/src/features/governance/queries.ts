import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

export const governanceQuery = (code: string) =>
  queryOptions({
    queryKey: ['governance', code, 'settings'],
    queryFn: ({ signal }) => vaultOf(code).governance.get({ signal }),
  })

export const changeSetsQuery = (code: string) =>
  infiniteQueryOptions({
    queryKey: ['governance', code, 'sets'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .changeSets.list({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const changeSetQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['governance', code, 'set', id],
    queryFn: ({ signal }) => vaultOf(code).changeSets.get(id, { signal }),
    // A delay runs out, and others vote.
    refetchInterval: 10_000,
  })

export const versionsQuery = (code: string) =>
  infiniteQueryOptions({
    queryKey: ['governance', code, 'versions'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .rules.listVersions({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** What a version changed; of the first one, what it holds. */
export const versionQuery = (code: string, number: number) =>
  queryOptions({
    queryKey: ['governance', code, 'version', number],
    queryFn: async ({ signal }) => {
      const { rules } = vaultOf(code)
      if (number > 1) return rules.compareVersions(number - 1, { to: number }, { signal })
      const { document } = await rules.getVersion(number, { signal })
      const [...parts] = [
        ...document.groups.map((one) => ({ kind: 'group' as const, ...one })),
        ...document.policies.map((one) => ({ kind: 'policy' as const, ...one })),
      ]
      return {
        differences: parts.map(({ kind, ...after }) => ({ kind, id: after.id, name: after.name, before: null, after })),
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

export const withheldQuery = (code: string) =>
  queryOptions({
    queryKey: ['governance', code, 'withheld'],
    queryFn: ({ signal }) => vaultOf(code).withheldTokens.list({ signal }),
  })
