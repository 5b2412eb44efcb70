import { StrongroomError } from '@strongroom/sdk'
import { type Authority, readAuthority } from '@strongroom/sdk/signing'
import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from './api.ts'

/**
 * The authority by which a page shows what is signed; null where the wallet service has none. A false one has another hash, which
 * the vote names, and the wallet service refuses it.
 */
export const signingAuthorityQuery = (code: string) =>
  queryOptions({
    queryKey: ['vault', code, 'authority', 'signing'],
    queryFn: ({ signal }) => readSigningAuthority(code, signal),
  })

export async function readSigningAuthority(code: string, signal?: AbortSignal): Promise<Authority | null> {
  try {
    return await readAuthority((await vaultOf(code).authority.get(signal && { signal })).document)
  } catch (error) {
    if (error instanceof StrongroomError && error.status === 404) return null
    throw error
  }
}
