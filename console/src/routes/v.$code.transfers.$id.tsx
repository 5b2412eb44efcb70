import { createFileRoute } from '@tanstack/react-router'
import { TransferDetail } from './-operation-detail.tsx'

export const Route = createFileRoute('/v/$code/transfers/$id')({
  component: () => <TransferDetail {...Route.useParams()} />,
})
