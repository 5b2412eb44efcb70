import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ChangeSetPage } from '../features/governance/change-set-page.tsx'
import { PolicySentence } from '../features/policies/policy-sentence.tsx'

const ChangeSetHistory = lazy(() => import('../features/policies/change-set-history.tsx'))

export const Route = createFileRoute('/v/$code/rules/$id')({ component: ChangeSet })

function ChangeSet() {
  const params = Route.useParams()
  return (
    <ChangeSetPage {...params} Sentence={PolicySentence}>
      <Suspense>
        <ChangeSetHistory {...params} />
      </Suspense>
    </ChangeSetPage>
  )
}
