import { createFileRoute } from '@tanstack/react-router'
import { ReferencePage } from '../features/reference/reference-page.tsx'

export const Route = createFileRoute('/docs/$')({ component: Reference })

function Reference() {
  const { _splat = '' } = Route.useParams()
  return <ReferencePage path={_splat} />
}
