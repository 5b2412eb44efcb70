import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { allOf } from '../../lib/all.ts'
import { strongroom, vaultOf } from '../../lib/api.ts'

/** A transfer or a deposit of a vault. */
export type Operation = { code: string; type: 'transfer' | 'deposit'; id: string }

export function transferQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['transfers', code, id],
    queryFn: ({ signal }) => vaultOf(code).transfers.get(id, { signal }),
    // A pending operation is read again until it has ended.
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 5_000 : false),
  })
}

export function depositQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['deposits', code, id],
    queryFn: ({ signal }) => vaultOf(code).deposits.get(id, { signal }),
  })
}

export function addressQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['addresses', code, id],
    queryFn: ({ signal }) => vaultOf(code).addresses.get(id, { signal }),
    staleTime: 60_000,
  })
}

export function relationsQuery({ code, type, id }: Operation) {
  return queryOptions({
    queryKey: ['operation-relations', code, type, id],
    queryFn: async ({ signal }) => (await vaultOf(code).operations.listRelations(type, id, { signal })).items,
  })
}

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => allOf(strongroom.tokens.list({ limit: 100 }, { signal })),
  staleTime: 300_000,
})

/** Reads the policies of the vault, whose names votes and decisions show. */
export function policiesQuery(code: string) {
  return queryOptions({
    queryKey: ['policies', code, 'names'],
    queryFn: ({ signal }) => allOf(vaultOf(code).policies.list({ limit: 100 }, { signal })),
    staleTime: 300_000,
  })
}

/** Renews the page of a changed operation and the lists that show it. */
export async function refreshOperation(client: QueryClient, { code, type, id }: Operation): Promise<void> {
  const keys = [[`${type}s`, code, id], ['history', code], ['operation-relations', code], ['balances', code], ['inbox']]
  await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
}
