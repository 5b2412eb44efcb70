import type { HistoryItem } from '@strongroom/sdk'
import { createFileRoute } from '@tanstack/react-router'
import { useCallback } from 'react'
import { ActivityPage } from '../features/activity/activity-page.tsx'
import { exportPath } from '../features/activity/export.ts'
import { type ActivityFilter, filterOf } from '../features/activity/filter.ts'
import { TagButton } from '../features/tagging/tag-button.tsx'
import { useClickKey } from '../lib/hotkeys.ts'

export const Route = createFileRoute('/v/$code/activity')({
  validateSearch: (search: Record<string, unknown>): ActivityFilter => filterOf(search),
  component: Activity,
})

function Activity() {
  const { code } = Route.useParams()
  const filter = Route.useSearch()
  const navigate = Route.useNavigate()
  useClickKey('t')
  useClickKey('e')
  const tagCell = useCallback(
    ({ operationType, id, metadata }: HistoryItem) => (
      <TagButton operation={{ code, type: operationType, id }} category={metadata.category} />
    ),
    [code],
  )
  return (
    <ActivityPage
      code={code}
      filter={filter}
      onFilter={(search) => void navigate({ search, replace: true })}
      exportHref={exportPath(code, filter)}
      tagCell={tagCell}
    />
  )
}
