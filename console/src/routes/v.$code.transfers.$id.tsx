import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import type { Subject } from '../features/holds/queries.ts'
import { transferQuery } from '../features/operations/queries.ts'
import { TransferPage } from '../features/operations/transfer-page.tsx'
import { CategoriesCard } from '../features/tagging/categories-card.tsx'
import { useClickKey } from '../lib/hotkeys.ts'

export const Route = createFileRoute('/v/$code/transfers/$id')({ component: Transfer })

function Transfer() {
  const { code, id } = Route.useParams()
  useClickKey('t')
  const { data: transfer } = useQuery(transferQuery(code, id))
  const others: Subject[] =
    transfer === undefined
      ? []
      : [
          { type: 'address', id: transfer.fromAddressId },
          ...(transfer.counterparty === null ? [] : [{ type: 'counterparty', id: transfer.counterparty.id } as const]),
        ]
  const canBeHeld = transfer?.status === 'awaiting_approval' || transfer?.status === 'pending'
  return (
    <>
      <HoldBar code={code} subject={{ type: 'transfer', id }} others={canBeHeld ? others : []} canBeHeld={canBeHeld} />
      <TransferPage code={code} id={id} categories={<CategoriesCard operation={{ code, type: 'transfer', id }} />} />
    </>
  )
}
