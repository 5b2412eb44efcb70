import type { Token } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'

export const vaultQuery = (code: string) =>
  queryOptions({
    queryKey: ['vault', code],
    queryFn: ({ signal }) => vaultOf(code).get({ signal }),
  })

/** The tokens of the installation, for the choice of the first token of an address. */
export const tokensQuery = queryOptions({
  queryKey: ['vault-settings', 'tokens'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Token[]> => {
    const items: Token[] = []
    for await (const item of strongroom.tokens.list({ limit: 100 }, { signal })) items.push(item)
    return items
  },
})
