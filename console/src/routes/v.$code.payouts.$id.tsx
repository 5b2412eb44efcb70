import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { PayoutDetail } from '../features/payouts/payout-detail.tsx'
import { payoutQuery } from '../features/payouts/queries.ts'
import { DetailState } from '../ui/list-states.tsx'

export const Route = createFileRoute('/v/$code/payouts/$id')({ component: Detail })

function Detail() {
  const { code, id } = Route.useParams()
  const payout = useQuery(payoutQuery(code, id))
  return (
    <DetailState query={payout}>
      {payout.data && <PayoutDetail key={id} code={code} payout={payout.data} />}
    </DetailState>
  )
}
