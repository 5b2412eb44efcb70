import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { GroupDetail } from '../features/address-book/group-detail.tsx'
import { counterpartyGroupQuery } from '../features/address-book/queries.ts'
import { DetailState } from '../ui/list-states.tsx'

export const Route = createFileRoute('/v/$code/address-book/groups/$id')({ component: Detail })

function Detail() {
  const { code, id } = Route.useParams()
  const group = useQuery(counterpartyGroupQuery(code, id))
  return (
    <DetailState query={group}>{group.data && <GroupDetail key={id} code={code} group={group.data} />}</DetailState>
  )
}
