import type { OperationCategory } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'

export const categoriesQuery = (code: string) =>
  queryOptions({
    queryKey: ['categories', code, 'list'],
    queryFn: async ({ signal }): Promise<OperationCategory[]> => {
      const items: OperationCategory[] = []
      for await (const item of vaultOf(code).operationCategories.list({ limit: 100 }, { signal })) items.push(item)
      return items
    },
  })

export const categoryQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['categories', code, id],
    queryFn: ({ signal }) => vaultOf(code).operationCategories.get(id, { signal }),
  })
