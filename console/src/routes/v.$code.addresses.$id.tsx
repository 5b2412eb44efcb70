import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { RecentActivity } from '../features/activity/recent-activity.tsx'
import { AddressDetail } from '../features/addresses/address-detail.tsx'
import { addressQuery } from '../features/addresses/queries.ts'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import { DetailState } from '../ui/list-states.tsx'

export const Route = createFileRoute('/v/$code/addresses/$id')({ component: Detail })

function Detail() {
  const { code, id } = Route.useParams()
  const address = useQuery(addressQuery(code, id))
  return (
    <DetailState query={address}>
      {address.data && (
        <>
          <HoldBar
            key={`hold ${id}`}
            code={code}
            subject={{ type: 'address', id }}
            name={address.data.label ?? address.data.address}
          />
          <AddressDetail key={id} code={code} address={address.data} />
          <RecentActivity key={`activity ${id}`} code={code} subject={{ addressId: id }} />
        </>
      )}
    </DetailState>
  )
}
