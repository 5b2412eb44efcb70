import { queryOptions } from '@tanstack/react-query'
import { readFile, tryRead } from '../../lib/api.ts'
import type { GroupFile, Index, SearchWords } from './types.ts'

/** The files that the build makes of openapi.json: their addresses change with their content. */
const urls = import.meta.glob<string>('../../generated/reference/*.json', {
  query: '?url',
  import: 'default',
  eager: true,
})

const fileQuery = <Content>(name: string) =>
  queryOptions({
    queryKey: ['reference', name],
    queryFn: ({ signal }) => readFile<Content>(urls[`../../generated/reference/${name}.json`]!, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const indexQuery = fileQuery<Index>('index')
export const searchQuery = fileQuery<SearchWords>('search')

/** The operations of a group; null for a name that no group has. */
export function groupQuery(slug: string | undefined) {
  const exists = slug !== undefined && `../../generated/reference/${slug}.json` in urls
  return exists ? fileQuery<GroupFile>(slug) : null
}

type Session = { vaults: { code: string }[] }

/**
 * The vaults of the reader, for the examples; none for somebody who is not signed in, who may read all the same. The service
 * asks for the session in the page only if the browser has a cookie.
 */
export const vaultsQuery = queryOptions({
  queryKey: ['reference', 'vaults'],
  queryFn: async ({ signal }) => {
    if (document.querySelector('link[rel="preload"][href$="/session"]') === null) return null
    const { status, text } = await tryRead('/api/v1/auth/session', signal)
    return status === 200 ? (JSON.parse(text!) as Session).vaults.map(({ code }) => code) : null
  },
  staleTime: Number.POSITIVE_INFINITY,
})
