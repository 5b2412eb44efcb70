import { createFileRoute } from '@tanstack/react-router'
import { readInto } from '../features/policies/into-search.ts'
import { PolicyPage } from '../features/policies/policy-page.tsx'

export const Route = createFileRoute('/v/$code/policies/$id')({
  validateSearch: readInto,
  component: () => {
    const { code, id } = Route.useParams()
    const into = Route.useSearch()
    return <PolicyPage key={JSON.stringify([id, into])} {...{ code, id, into }} />
  },
})
