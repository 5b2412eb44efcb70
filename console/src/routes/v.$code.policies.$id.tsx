import { createFileRoute } from '@tanstack/react-router'
import { PolicyPage } from '../features/policies/policy-page.tsx'

export const Route = createFileRoute('/v/$code/policies/$id')({
  component: () => {
    const { code, id } = Route.useParams()
    return <PolicyPage key={id} code={code} id={id} />
  },
})
