import { createFileRoute } from '@tanstack/react-router'
import { lazy } from 'react'
import { transferQuery } from '../features/approvals/queries.ts'
import { TransferApproval } from '../features/approvals/transfer-approval.tsx'

const DecisionCard = lazy(async () => ({
  default: (await import('../features/operations/decision-card.tsx')).DecisionCard,
}))

export const Route = createFileRoute('/v/$code/approvals/transfer/$id')({
  loader: ({ context, params: { code, id } }) => void context.queryClient.prefetchQuery(transferQuery(code, id)),
  component: () => <TransferApproval {...Route.useParams()} Why={DecisionCard} />,
})
