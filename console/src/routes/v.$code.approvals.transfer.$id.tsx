import { createFileRoute } from '@tanstack/react-router'
import { transferQuery } from '../features/approvals/queries.ts'
import { TransferApproval } from '../features/approvals/transfer-approval.tsx'

export const Route = createFileRoute('/v/$code/approvals/transfer/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(transferQuery(code, id)),
  component: () => <TransferApproval {...Route.useParams()} />,
})
