import { createFileRoute } from '@tanstack/react-router'
import { DepositDetail } from './-operation-detail.tsx'

export const Route = createFileRoute('/v/$code/deposits/$id')({
  component: () => <DepositDetail {...Route.useParams()} />,
})
