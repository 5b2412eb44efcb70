import { createFileRoute } from '@tanstack/react-router'
import { type ComponentProps, lazy } from 'react'
import { requestQuery } from '../features/approvals/queries.ts'
import { RequestApproval } from '../features/approvals/request-approval.tsx'

/** Loaded on demand: changes of the rules are rare and need much code. */
const RulesChange = lazy(async () => {
  const [{ SignedDifferences }, { PolicySentence }] = await Promise.all([
    import('../features/governance/set-differences.tsx'),
    import('../features/policies/policy-sentence.tsx'),
  ])
  return {
    default: (props: Omit<ComponentProps<typeof SignedDifferences>, 'Sentence'>) => (
      <SignedDifferences {...props} Sentence={PolicySentence} />
    ),
  }
})

export const Route = createFileRoute('/v/$code/approvals/request/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(requestQuery(code, id)),
  component: Request,
})

function Request() {
  const { code, id } = Route.useParams()
  return <RequestApproval code={code} id={id} RulesChange={RulesChange} />
}
