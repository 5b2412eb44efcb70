import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { RecentActivity } from '../features/activity/recent-activity.tsx'
import { CounterpartyDetail } from '../features/address-book/counterparty-detail.tsx'
import { counterpartyQuery } from '../features/address-book/queries.ts'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import { DetailState } from '../ui/list-states.tsx'

export const Route = createFileRoute('/v/$code/address-book/$id')({ component: Detail })

function Detail() {
  const { code, id } = Route.useParams()
  const counterparty = useQuery(counterpartyQuery(code, id))
  return (
    <DetailState query={counterparty}>
      {counterparty.data && (
        <>
          <HoldBar
            key={`hold ${id}`}
            code={code}
            subject={{ type: 'counterparty', id }}
            name={counterparty.data.name}
          />
          <CounterpartyDetail key={id} code={code} counterparty={counterparty.data} />
          <RecentActivity key={`activity ${id}`} code={code} subject={{ counterpartyId: id }} />
        </>
      )}
    </DetailState>
  )
}
