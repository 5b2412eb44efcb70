import type { HistoryItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback } from 'react'
import { useViewer } from '../../lib/viewer.ts'
import { CategoryName, type NamedCategory } from './category-name.tsx'
import { categoriesQuery } from './queries.ts'
import { TagButton } from './tag-button.tsx'

/** Returns a function that draws the category of a row: as a chip that changes it, or, for an auditor, as its name. */
export function useTagCell(code: string): (item: HistoryItem) => ReactNode {
  const { data: categories } = useQuery(categoriesQuery(code))
  const { isAuditor } = useViewer(code)
  return useCallback(
    ({ operationType, id, metadata: { category: key } }: HistoryItem) => {
      const unknown = (name: string): NamedCategory => ({ name, emoji: null, color: null })
      const category = key === null ? null : (categories?.find((candidate) => candidate.key === key) ?? unknown(key))
      if (isAuditor) return category && <CategoryName category={category} />
      return <TagButton operation={{ code, type: operationType, id }} category={category} />
    },
    [code, categories, isAuditor],
  )
}
