import { useQuery } from '@tanstack/react-query'
import { HoldBar } from '../features/holds/hold-bar.tsx'
import type { Subject } from '../features/holds/queries.ts'
import { DepositPage } from '../features/operations/deposit-page.tsx'
import { depositQuery, transferQuery } from '../features/operations/queries.ts'
import { TransferPage } from '../features/operations/transfer-page.tsx'
import { CategoriesCard } from '../features/tagging/categories-card.tsx'
import { useClickKey } from '../lib/hotkeys.ts'

/** The details of a transfer and the actions on it, as a page or beside the list of activity. */
export function TransferDetail({ code, id }: { code: string; id: string }) {
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

/** The details of a deposit and the actions on it, as a page or beside the list of activity. */
export function DepositDetail({ code, id }: { code: string; id: string }) {
  useClickKey('t')
  const { data: deposit } = useQuery(depositQuery(code, id))
  return (
    <>
      <HoldBar code={code} subject={{ type: 'deposit', id }} canBeHeld={deposit !== undefined} />
      <DepositPage code={code} id={id} categories={<CategoriesCard operation={{ code, type: 'deposit', id }} />} />
    </>
  )
}
