import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

/** Folders are few: a person makes them by hand. */
const foldersMax = 500

export function foldersQuery(code: string) {
  return queryOptions({
    queryKey: ['address-groups', code],
    queryFn: async ({ signal }) => {
      const folders = []
      for await (const folder of vaultOf(code).addressGroups.list({ limit: 100 }, { signal })) {
        folders.push(folder)
        if (folders.length === foldersMax) break
      }
      return folders.sort((a, b) => a.name.localeCompare(b.name))
    },
  })
}

export function folderGrantsQuery(code: string, id: string) {
  return infiniteQueryOptions({
    queryKey: ['address-groups', code, id, 'grants'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .addressGroups.listGrants(id, { limit: 100, ...(pageParam && { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}
