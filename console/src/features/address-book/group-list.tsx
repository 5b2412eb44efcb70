import type { CounterpartyGroup } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { t } from '../../lib/language.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { CheckField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { counterpartyGroupsQuery } from './queries.ts'

type Props = { code: string; archived: boolean; change: (archived: boolean) => void }

/** The groups of counterparties, which rules refer to. */
export function GroupList({ code, archived, change }: Props) {
  const query = useInfiniteQuery(counterpartyGroupsQuery(code, archived))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(() => columnsOf(code), [code])
  return (
    <div className="rounded-lg border border-line bg-paper p-4">
      <CheckField label={t('Archived')} checked={archived} onChange={({ target }) => change(target.checked)} />
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        clearFilter={archived ? () => change(false) : undefined}
        empty={<p>{t('There is no group yet. Groups such as "Suppliers" let one policy cover many recipients.')}</p>}
      >
        <DataTable caption={t('Groups')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </ListState>
    </div>
  )
}

function columnsOf(code: string): Column<CounterpartyGroup>[] {
  return [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ id, name, emoji, avatarUri, archivedAt }) => (
        <span className="flex flex-wrap items-center gap-2">
          <Avatar name={name} image={avatarUri} />
          <Link to={`/v/${code}/address-book/groups/${id}` as '/'} className="font-medium text-accent hover:underline">
            {emoji !== null && <span aria-hidden>{emoji} </span>}
            {name}
          </Link>
          {archivedAt !== null && <Badge tone="neutral">{t('archived')}</Badge>}
        </span>
      ),
    },
    { id: 'code', header: t('Code'), cell: (group) => <span className="code">{group.code}</span> },
    { id: 'description', header: t('Description'), cell: ({ description }) => description ?? '–' },
    {
      id: 'members',
      header: t('Members'),
      align: 'end',
      cell: ({ _count }) => <span className="figures">{_count.memberships}</span>,
    },
  ]
}
