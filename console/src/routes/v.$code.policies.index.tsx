import { createFileRoute } from '@tanstack/react-router'
import { PoliciesPage, type PolicyFilter } from '../features/policies/policies-page.tsx'

export const Route = createFileRoute('/v/$code/policies/')({
  validateSearch: ({ action, group }: Record<string, unknown>): PolicyFilter => ({
    ...(typeof action === 'string' ? { action: action as NonNullable<PolicyFilter['action']> } : {}),
    ...(typeof group === 'string' ? { group } : {}),
  }),
  component: Policies,
})

function Policies() {
  const navigate = Route.useNavigate()
  return (
    <PoliciesPage
      code={Route.useParams().code}
      filter={Route.useSearch()}
      onFilter={(search) => navigate({ search, replace: true, resetScroll: false })}
    />
  )
}
