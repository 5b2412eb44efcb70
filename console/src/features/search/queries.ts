import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

/** The shortest text that the service searches for, in characters. */
export const shortestSearch = 2
export const longestSearch = 100

export const searchQuery = (code: string, text: string) =>
  queryOptions({
    queryKey: ['search', code, text],
    queryFn: ({ signal }) => vaultOf(code).search({ q: text }, { signal }),
    enabled: text.length >= shortestSearch,
    staleTime: 10_000,
  })
