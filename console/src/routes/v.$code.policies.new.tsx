import { createFileRoute } from '@tanstack/react-router'
import { type Into, readInto } from '../features/policies/into-search.ts'
import { NewPolicyPage } from '../features/policies/policy-page.tsx'

export const Route = createFileRoute('/v/$code/policies/new')({
  validateSearch: (search: Record<string, unknown>): Into & { from?: 'template' } => ({
    ...(search.from === 'template' ? { from: search.from } : {}),
    ...readInto(search),
  }),
  component: NewPolicy,
})

function NewPolicy() {
  const { from, ...into } = Route.useSearch()
  const { code } = Route.useParams()
  return <NewPolicyPage key={JSON.stringify([from, into])} {...{ code, into }} fromTemplate={from === 'template'} />
}
