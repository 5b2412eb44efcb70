import { createFileRoute } from '@tanstack/react-router'
import { NewPolicyPage } from '../features/policies/policy-page.tsx'

export const Route = createFileRoute('/v/$code/policies/new')({
  validateSearch: ({ from }: Record<string, unknown>): { from?: 'template' } => (from === 'template' ? { from } : {}),
  component: NewPolicy,
})

function NewPolicy() {
  const fromTemplate = Route.useSearch().from === 'template'
  return <NewPolicyPage key={String(fromTemplate)} code={Route.useParams().code} fromTemplate={fromTemplate} />
}
