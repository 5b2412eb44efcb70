import type { InboxItem } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatRecent, formatTimeLeft } from '../../lib/time.ts'
import { Usd } from '../../ui/amount.tsx'
import { Named } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { BulkVote } from './bulk-vote.tsx'
import { ItemTitle } from './item-title.tsx'
import { type InboxState, inboxQuery, pathOf } from './queries.ts'
import { statusOf, titleOf } from './words.ts'

export function InboxList({ state }: { state: InboxState }) {
  const query = useInfiniteQuery(inboxQuery(state))
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const { data: session } = useQuery(sessionQuery)
  const hasVaults = session?.vaults.length !== 1
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const columns = useMemo(() => {
    const toggle = (id: string) => select((before) => toggled(before, id))
    const columns = columnsOf(state, hasVaults)
    return state === 'waiting' ? [selectColumn(selected, toggle), ...columns] : columns
  }, [state, selected, hasVaults])
  const chosen = rows.filter(({ id }) => selected.has(id))
  return (
    <>
      {/* Outside of the list, so that the answer stays when the last row has left. */}
      {state === 'waiting' && query.data !== undefined && (
        <BulkVote items={chosen} hidden={rows.length === 0} onDone={() => select(new Set())} />
      )}
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{emptyText(state)}</p>}>
        <div className="rounded-lg border border-line bg-paper">
          <DataTable caption={t('Approvals')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
        </div>
      </ListState>
    </>
  )
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(id)) after.add(id)
  return after
}

function selectColumn(selected: ReadonlySet<string>, toggle: (id: string) => void): Column<InboxItem> {
  return {
    id: 'select',
    header: t('Select'),
    cell: (item) => (
      <input
        type="checkbox"
        className="size-4 accent-accent"
        aria-label={t('Select {name}', { name: titleOf(item) })}
        checked={selected.has(item.id)}
        onChange={() => toggle(item.id)}
      />
    ),
  }
}

function emptyText(state: InboxState): string {
  if (state === 'waiting')
    return t('Nothing waits for your vote. New requests appear here at once, and you get a mail.')
  if (state === 'decided') return t('You have not voted yet. Your decisions are listed here.')
  return t('None of your requests has needed votes yet.')
}

/** Returns the columns. The vault is left out for readers of a single vault. */
function columnsOf(state: InboxState, hasVaults: boolean): Column<InboxItem>[] {
  return [
    {
      id: 'what',
      header: t('What'),
      cell: (item) => (
        <Link to={pathOf(item) as '/'} className="font-medium text-accent hover:underline">
          <ItemTitle item={item} />
        </Link>
      ),
    },
    { id: 'usd', header: t('Value'), align: 'end', cell: ({ transfer }) => <Usd value={transfer?.usdValue} /> },
    {
      id: 'who',
      header: t('Asked by'),
      cell: ({ initiator }) => <Named name={initiator.name} image={initiator.image} />,
    },
    ...(hasVaults ? [{ id: 'vault', header: t('Vault'), cell: ({ vault }: InboxItem) => vault.name }] : []),
    {
      id: 'votes',
      header: t('Votes'),
      align: 'end',
      className: 'md:whitespace-nowrap',
      cell: ({ votes }) => t('{given} of {needed}', { given: votes.given, needed: votes.needed }),
    },
    state === 'waiting'
      ? {
          id: 'left',
          header: t('Time left'),
          className: 'md:whitespace-nowrap',
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
