import { createFileRoute } from '@tanstack/react-router'
import { HoldsPage, type HoldsSearch } from '../features/holds/holds-page.tsx'
import { subjectTypes } from '../features/holds/words.ts'

export const Route = createFileRoute('/v/$code/holds')({
  validateSearch: (search: Record<string, unknown>): HoldsSearch => {
    const type = subjectTypes.find((subjectType) => subjectType === search.type)
    return {
      ...(search.state === 'all' ? { state: 'all' } : {}),
      ...(type === undefined ? {} : { type }),
      ...(typeof search.user === 'string' ? { user: search.user } : {}),
    }
  },
  component: Holds,
})

function Holds() {
  const navigate = Route.useNavigate()
  return (
    <HoldsPage
      code={Route.useParams().code}
      search={Route.useSearch()}
      change={(search) => navigate({ search, replace: true })}
    />
  )
}
