import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type AuditSearch, auditSearchOf } from '../features/audit/filter.ts'
import { type PlatformSearch, parts } from '../features/platform/parts.ts'
import { PlatformPage } from '../features/platform/platform-page.tsx'
import { sessionQuery } from '../lib/session.ts'
import { Frame } from '../ui/frame.tsx'
import { DetailState, NotFound, Skeleton } from '../ui/list-states.tsx'

const AuditLog = lazy(() => import('../features/audit/audit-log.tsx'))

export const Route = createFileRoute('/platform')({ validateSearch: searchOf, component: Platform })

type Search = PlatformSearch & AuditSearch

function searchOf(search: Record<string, unknown>): Search {
  const part = parts.find((name) => name === search.part)
  return {
    ...(part === undefined ? {} : { part }),
    ...(typeof search.tokenId === 'string' && search.tokenId !== '' ? { tokenId: search.tokenId } : {}),
    ...(part === 'record' ? auditSearchOf(search) : {}),
  }
}

function Platform() {
  const session = useQuery(sessionQuery)
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const change = (changed: Search) =>
    navigate({ search: (before) => searchOf({ ...before, ...changed }), replace: true })
  const isAdmin = session.data?.isPlatformAdmin ?? false
  const record = (
    <Suspense fallback={<Skeleton rows={8} />}>
      <AuditLog log="platform" search={auditSearchOf(search)} change={change} />
    </Suspense>
  )
  return (
    <Frame isPlatformAdmin={isAdmin}>
      <DetailState query={session}>
        {isAdmin ? <PlatformPage search={search} change={change} record={record} /> : <NotFound />}
      </DetailState>
    </Frame>
  )
}
