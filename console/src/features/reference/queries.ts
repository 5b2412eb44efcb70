import { queryOptions } from '@tanstack/react-query'
import { readFile, tryRead } from '../../lib/reads.ts'
import type { GroupFile, Index, SearchWords } from './types.ts'

/** The folder with the files that the build makes of openapi.json. Its name changes with their content. */
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
 * Reads the vaults of the reader, for the examples. Readers who are not signed in may read the reference, too, and have
 * no vaults. The page asks for a session only if the browser has a cookie.
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
