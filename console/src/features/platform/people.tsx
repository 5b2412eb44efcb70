import type { PlatformUser } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { formatRecent, formatTimeInFull } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { usersQuery } from './queries.ts'

/** The people and services of all vaults. */
export function People() {
  const [search, setSearch] = useState('')
  const query = useInfiniteQuery(usersQuery(useDebounced(search.trim())))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(columnsOfPeople, [])
  return (
    <>
      <div className="max-w-sm">
        <TextField
          label={t('Search by name or e-mail')}
          type="search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        empty={<p>{t('Nobody uses this installation yet.')}</p>}
        clearFilter={search === '' ? undefined : () => setSearch('')}
      >
        <Card>
          <DataTable caption={t('People')} columns={columns} rows={rows} rowKey={({ userId }) => userId} more={query} />
        </Card>
      </ListState>
    </>
  )
}

function columnsOfPeople(): Column<PlatformUser>[] {
  return [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ name, kind }) => (
        <div>
          <span className="font-medium">{name}</span>
          {kind === 'service' && <span className="block text-quiet">{t('Service')}</span>}
        </div>
      ),
    },
    {
      id: 'email',
      header: t('E-mail'),
      cell: ({ email }) => <span className="[overflow-wrap:anywhere]">{email ?? '–'}</span>,
    },
    { id: 'vaults', header: t('Vaults'), cell: ({ vaults }) => vaults.map(({ name }) => name).join(', ') || '–' },
    { id: 'seen', header: t('Last seen'), cell: (user) => <LastSeen user={user} /> },
    {
      id: 'admin',
      header: t('Platform administrator'),
      cell: ({ isPlatformAdmin }) => (isPlatformAdmin ? <Badge tone="good">{t('Yes')}</Badge> : '–'),
    },
  ]
}

/** Services hold no session, so nothing is known of when they were here. */
function LastSeen({ user: { kind, lastSeenAt } }: { user: PlatformUser }) {
  if (lastSeenAt === null) return kind === 'service' ? '–' : t('never')
  return <time title={formatTimeInFull(lastSeenAt)}>{formatRecent(lastSeenAt)}</time>
}
