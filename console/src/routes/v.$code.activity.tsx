import type { HistoryItem } from '@strongroom/sdk'
import { createFileRoute, Navigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { ActivityPage } from '../features/activity/activity-page.tsx'
import { exportPath } from '../features/activity/export.ts'
import { type ActivityFilter, filterOf } from '../features/activity/filter.ts'
import { type OpenOperation, openOf } from '../features/activity/open-operation.ts'
import { useTagCell } from '../features/tagging/use-tag-cell.tsx'
import { useClickKey } from '../lib/hotkeys.ts'
import { useMedia } from '../lib/media.ts'
import { BesideList } from '../ui/beside-list.tsx'

const TransferDetail = lazy(async () => ({ default: (await import('./-operation-detail.tsx')).TransferDetail }))
const DepositDetail = lazy(async () => ({ default: (await import('./-operation-detail.tsx')).DepositDetail }))

export const Route = createFileRoute('/v/$code/activity')({
  validateSearch: (search: Record<string, unknown>): ActivityFilter & { open?: OpenOperation } => ({
    ...filterOf(search),
    ...openOf(search),
  }),
  component: Activity,
})

function Activity() {
  const { code } = Route.useParams()
  const { open, ...filter } = Route.useSearch()
  const navigate = Route.useNavigate()
  const hasRoom = useMedia('(min-width: 1280px)')
  const tagCell = useTagCell(code)
  useClickKey('t')
  useClickKey('e')
  const show = useCallback(
    (operation: OpenOperation | undefined) =>
      void navigate({
        search: ({ open: before, ...rest }) => (operation === undefined ? rest : { ...rest, open: operation }),
        // Only opening the first details adds to the history, so that going back closes them.
        replace: operation === undefined || open !== undefined,
        resetScroll: false,
      }),
    [navigate, open],
  )
  const onOpen = useCallback(({ operationType, id }: HistoryItem) => show(`${operationType}-${id}`), [show])
  if (!hasRoom && open !== undefined) return <Navigate to={pathOf(code, open)} replace />
  const shown = hasRoom && open !== undefined ? open : null
  const list = (
    <ActivityPage
      code={code}
      filter={filter}
      onFilter={(search) =>
        void navigate({ search: ({ open }) => ({ ...search, ...openOf({ open }) }), replace: true })
      }
      exportHref={exportPath(code, filter)}
      tagCell={tagCell}
      {...(hasRoom ? { onOpen } : {})}
      isNarrow={shown !== null}
    />
  )
  return <BesideList list={list} opened={shown && openedOf(code, shown)} onClose={() => show(undefined)} />
}

const partsOf = (operation: OpenOperation) => operation.split(/-(.*)/) as ['transfer' | 'deposit', string]

function pathOf(code: string, operation: OpenOperation): string {
  const [type, id] = partsOf(operation)
  return `/v/${code}/${type}s/${id}`
}

function openedOf(code: string, operation: OpenOperation) {
  const [type, id] = partsOf(operation)
  const Detail = type === 'transfer' ? TransferDetail : DepositDetail
  const detail = (
    <Suspense>
      <Detail code={code} id={id} />
    </Suspense>
  )
  return { detail, href: pathOf(code, operation) }
}
