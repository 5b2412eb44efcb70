import { createFileRoute } from '@tanstack/react-router'
import { requestQuery } from '../features/approvals/queries.ts'
import { RequestApproval } from '../features/approvals/request-approval.tsx'

export const Route = createFileRoute('/v/$code/approvals/request/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(requestQuery(code, id)),
  component: () => <RequestApproval {...Route.useParams()} />,
})
