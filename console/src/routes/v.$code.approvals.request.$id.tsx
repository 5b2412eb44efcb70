import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { requestQuery } from '../features/approvals/queries.ts'
import { RequestApproval } from '../features/approvals/request-approval.tsx'

/** Changes of the rules are rarer than others, and heavier. */
const RulesChange = lazy(async () => {
  const [{ SetDifferences }, { PolicySentence }] = await Promise.all([
    import('../features/governance/set-differences.tsx'),
    import('../features/policies/policy-sentence.tsx'),
  ])
  return {
    default: (set: { code: string; id: string }) => <SetDifferences {...set} Sentence={PolicySentence} />,
  }
})

export const Route = createFileRoute('/v/$code/approvals/request/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(requestQuery(code, id)),
  component: Request,
})

function Request() {
  const { code, id } = Route.useParams()
  const differences = (setId: string) => (
    <Suspense>
      <RulesChange code={code} id={setId} />
    </Suspense>
  )
  return <RequestApproval code={code} id={id} differences={differences} />
}
