import { queryOptions } from '@tanstack/react-query'
import { readFile, tryRead } from '../../lib/reads.ts'
import type { GroupFile, Index, SearchWords } from './types.ts'

/** Where the files are that the build makes of openapi.json; it changes with their content. */
declare const referenceFolder: string

const fileQuery = <Content>(name: string) =>
  queryOptions({
    queryKey: ['reference', name],
    queryFn: ({ signal }) => readFile<Content>(`${referenceFolder}/${name}.json`, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const indexQuery = fileQuery<Index>('index')
export const searchQuery = fileQuery<SearchWords>('search')

export const groupQuery = (slug: string) => fileQuery<GroupFile>(slug)

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
