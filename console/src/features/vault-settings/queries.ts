import { StrongroomError, type Token } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'

export const vaultQuery = (code: string) =>
  queryOptions({
    queryKey: ['vault', code],
    queryFn: ({ signal }) => vaultOf(code).get({ signal }),
  })

export type VaultAuthority = Awaited<ReturnType<ReturnType<typeof vaultOf>['authority']['get']>>

/** Reads the authority of the wallet service: the keys whose signatures it demands. Null if it has no authority. */
export const authorityQuery = (code: string) =>
  queryOptions({
    queryKey: ['vault', code, 'authority'],
    queryFn: async ({ signal }): Promise<VaultAuthority | null> => {
      try {
        return await vaultOf(code).authority.get({ signal })
      } catch (error) {
        if (error instanceof StrongroomError && error.status === 404) return null
        throw error
      }
    },
  })

/** Reads the tokens of the installation, for the choice of the first token of an address. */
export const tokensQuery = queryOptions({
  queryKey: ['vault-settings', 'tokens'],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Token[]> => {
    const items: Token[] = []
    for await (const item of strongroom.tokens.list({ limit: 100 }, { signal })) items.push(item)
    return items
  },
})
