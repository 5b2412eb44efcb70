import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { type PlatformSearch, parts } from '../features/platform/parts.ts'
import { PlatformPage } from '../features/platform/platform-page.tsx'
import { sessionQuery } from '../lib/session.ts'
import { Frame } from '../ui/frame.tsx'
import { DetailState, NotFound } from '../ui/list-states.tsx'

export const Route = createFileRoute('/platform')({
  validateSearch: (search: Record<string, unknown>): PlatformSearch => {
    const part = parts.find((each) => each === search.part)
    return {
      ...(part === undefined ? {} : { part }),
      ...(typeof search.tokenId === 'string' && search.tokenId !== '' ? { tokenId: search.tokenId } : {}),
    }
  },
  component: Platform,
})

function Platform() {
  const session = useQuery(sessionQuery)
  const search = Route.useSearch()
  const navigate = Route.useNavigate()
  const change = (changed: PlatformSearch) =>
    navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const isAdmin = session.data?.isPlatformAdmin ?? false
  return (
    <Frame isPlatformAdmin={isAdmin}>
      <DetailState query={session}>
        {isAdmin ? <PlatformPage search={search} change={change} /> : <NotFound />}
      </DetailState>
    </Frame>
  )
}
