import { createFileRoute } from '@tanstack/react-router'
import { PayoutApproval } from '../features/approvals/payout-approval.tsx'
import { payoutQuery } from '../features/approvals/queries.ts'

export const Route = createFileRoute('/v/$code/approvals/payout/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(payoutQuery(code, id)),
  component: () => <PayoutApproval {...Route.useParams()} />,
})
