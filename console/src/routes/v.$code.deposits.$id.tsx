import { createFileRoute } from '@tanstack/react-router'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import { DepositPage } from '../features/operations/deposit-page.tsx'
import { CategoriesCard } from '../features/tagging/categories-card.tsx'
import { useClickKey } from '../lib/hotkeys.ts'

export const Route = createFileRoute('/v/$code/deposits/$id')({ component: Deposit })

function Deposit() {
  const { code, id } = Route.useParams()
  useClickKey('t')
  return (
    <>
      <HoldBar code={code} subject={{ type: 'deposit', id }} />
      <DepositPage code={code} id={id} categories={<CategoriesCard operation={{ code, type: 'deposit', id }} />} />
    </>
  )
}
