import type { Payout } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { type PayoutStatus, payoutsQuery } from './queries.ts'

/** The payouts of a vault, newest first. */
export function PayoutList({ code }: { code: string }) {
  const query = useInfiniteQuery(payoutsQuery(code, undefined))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(() => columnsOf(code), [code])
  return (
    <div className="rounded-lg border border-line bg-paper p-4">
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        empty={<p>{t('No payout has been ordered yet. Up to a thousand payments are decided and voted on as one.')}</p>}
      >
        <DataTable caption={t('Payouts')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </ListState>
    </div>
  )
}

function columnsOf(code: string): Column<Payout>[] {
  return [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ id, name, createdAt }) => (
        <Link to={`/v/${code}/payouts/${id}` as '/'} className="font-medium text-accent hover:underline">
          {name ?? formatTime(createdAt)}
        </Link>
      ),
    },
    { id: 'status', header: t('State'), cell: ({ status }) => <PayoutState status={status} /> },
    { id: 'rows', header: t('Payments'), align: 'end', cell: ({ rowsCount }) => rowsCount },
    { id: 'sums', header: t('Sum'), align: 'end', cell: ({ sums }) => <Sums sums={sums} /> },
    { id: 'initiator', header: t('Ordered by'), cell: ({ initiator }) => initiator.name ?? '–' },
    { id: 'created', header: t('Ordered'), cell: ({ createdAt }) => formatTime(createdAt) },
  ]
}

export function Sums({ sums }: Pick<Payout, 'sums'>) {
  return (
    <span className="inline-grid gap-0.5">
      {sums.map(({ tokenId, amountDecimal, asset }) => (
        <Amount key={tokenId} decimal={amountDecimal} unit={asset} />
      ))}
    </span>
  )
}

const tones: Record<PayoutStatus, Tone> = {
  awaiting_approval: 'waiting',
  approved: 'good',
  rejected: 'bad',
  cancelled: 'neutral',
  expired: 'neutral',
  halted: 'bad',
}

export function PayoutState({ status }: { status: PayoutStatus }) {
  const words: Record<PayoutStatus, string> = {
    awaiting_approval: t('Waits for votes'),
    approved: t('Approved'),
    rejected: t('Rejected'),
    cancelled: t('Cancelled'),
    expired: t('Expired'),
    halted: t('Halted'),
  }
  return <Badge tone={tones[status]}>{words[status]}</Badge>
}
