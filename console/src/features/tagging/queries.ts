import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { allOf } from '../../lib/all.ts'
import { vaultOf } from '../../lib/api.ts'

/** A transfer or a deposit of a vault. */
export type Operation = { code: string; type: 'transfer' | 'deposit'; id: string }

/** Reads all categories of a vault, including archived categories, whose names tagged operations still show. */
export function categoriesQuery(code: string) {
  return queryOptions({
    queryKey: ['operation-categories', code],
    queryFn: ({ signal }) => allOf(vaultOf(code).operationCategories.list({ limit: 100 }, { signal })),
    staleTime: 300_000,
  })
}

export function availableCategoriesQuery({ code, type, id }: Operation) {
  return queryOptions({
    queryKey: ['category-assignments', code, type, id, 'available'],
    queryFn: async ({ signal }) => (await vaultOf(code).operations.listAvailableCategories(type, id, { signal })).items,
  })
}

export function assignmentsQuery({ code, type, id }: Operation) {
  return queryOptions({
    queryKey: ['category-assignments', code, type, id, 'assigned'],
    queryFn: async ({ signal }) => (await vaultOf(code).operations.listCategoryAssignments(type, id, { signal })).items,
  })
}

/** Renews the operation and the lists that show it, after a category was assigned or removed. */
export async function refreshTags(client: QueryClient, { code, type, id }: Operation): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ['category-assignments', code, type, id] }),
    client.invalidateQueries({ queryKey: ['history', code] }),
    client.invalidateQueries({ queryKey: [`${type}s`, code, id] }),
  ])
}
