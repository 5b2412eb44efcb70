import { StrongroomError } from '@strongroom/sdk'
import { type Authority, readAuthority } from '@strongroom/sdk/signing'
import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from './api.ts'

/**
 * Reads the authority that a page shows documents by. Null if the wallet service has no authority. A forged authority
 * has another hash; the vote names that hash, and the wallet service refuses the vote.
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
