import { createFileRoute } from '@tanstack/react-router'
import { TransferPage } from '../features/operations/transfer-page.tsx'
import { CategoriesCard } from '../features/tagging/categories-card.tsx'
import { useClickKey } from '../lib/hotkeys.ts'

export const Route = createFileRoute('/v/$code/transfers/$id')({ component: Transfer })

function Transfer() {
  const { code, id } = Route.useParams()
  useClickKey('t')
  return <TransferPage code={code} id={id} categories={<CategoriesCard operation={{ code, type: 'transfer', id }} />} />
}
