import type { InboxItem } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { formatRecent, formatTimeLeft } from '../../lib/time.ts'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { type InboxState, inboxQuery, pathOf } from './queries.ts'
import { statusOf, subjectOf } from './words.ts'

export function InboxList({ state }: { state: InboxState }) {
  const query = useInfiniteQuery(inboxQuery(state))
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const columns = useMemo(() => columnsOf(state), [state])
  return (
    <ListState query={query} isEmpty={rows.length === 0} empty={<p>{emptyText(state)}</p>}>
      <div className="rounded-lg border border-line bg-paper">
        <DataTable caption={t('Approvals')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </div>
    </ListState>
  )
}

function emptyText(state: InboxState): string {
  if (state === 'waiting')
    return t('Nothing waits for your vote. New requests appear here at once, and a mail tells you.')
  if (state === 'decided') return t('You have not voted yet. What you decide is kept here.')
  return t('Nothing that you asked for has waited for votes.')
}

function columnsOf(state: InboxState): Column<InboxItem>[] {
  return [
    {
      id: 'what',
      header: t('What'),
      cell: (item) => (
        <Link to={pathOf(item) as '/'} className="font-medium text-accent hover:underline">
          {item.transfer === null ? (
            subjectOf(item)
          ) : (
            <>
              <Amount decimal={item.transfer.amountDecimal} unit={item.transfer.token.code} />{' '}
              {t('to {name}', { name: item.transfer.recipientName ?? item.transfer.toAddress })}
            </>
          )}
        </Link>
      ),
    },
    { id: 'usd', header: t('Value'), align: 'end', cell: ({ transfer }) => <Usd value={transfer?.usdValue} /> },
    { id: 'who', header: t('Asked by'), cell: ({ initiator }) => initiator.name ?? '–' },
    { id: 'vault', header: t('Vault'), cell: ({ vault }) => vault.name },
    {
      id: 'votes',
      header: t('Votes'),
      align: 'end',
      cell: ({ votes }) => t('{given} of {needed}', { given: votes.given, needed: votes.needed }),
    },
    state === 'waiting'
      ? {
          id: 'left',
          header: t('Time left'),
          cell: ({ expiresAt }) => (expiresAt === null ? '–' : formatTimeLeft(expiresAt)),
        }
      : { id: 'at', header: t('When'), cell: ({ decidedAt, createdAt }) => formatRecent(decidedAt ?? createdAt) },
    {
      id: 'status',
      header: t('Status'),
      cell: ({ status, kind }) => {
        const { word, tone } = statusOf(status, kind === 'approval_request')
        return <Badge tone={tone}>{word}</Badge>
      },
    },
  ]
}
