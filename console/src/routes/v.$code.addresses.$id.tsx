import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { AddressDetail } from '../features/addresses/address-detail.tsx'
import { addressQuery } from '../features/addresses/queries.ts'
import { DetailState } from '../ui/list-states.tsx'

export const Route = createFileRoute('/v/$code/addresses/$id')({ component: Detail })

function Detail() {
  const { code, id } = Route.useParams()
  const address = useQuery(addressQuery(code, id))
  return (
    <DetailState query={address}>
      {address.data && <AddressDetail key={id} code={code} address={address.data} />}
    </DetailState>
  )
}
