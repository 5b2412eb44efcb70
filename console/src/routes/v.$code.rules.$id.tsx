import { createFileRoute } from '@tanstack/react-router'
import { ChangeSetPage } from '../features/governance/change-set-page.tsx'

export const Route = createFileRoute('/v/$code/rules/$id')({ component: ChangeSet })

function ChangeSet() {
  return <ChangeSetPage {...Route.useParams()} />
}
