import type { PlatformUser } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatRecent, formatTimeInFull } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { ChangeAccess } from './offboarding.tsx'
import { type UserStatus, usersQuery } from './queries.ts'

/** The people and services of all vaults. */
export function People() {
  const [search, setSearch] = useState('')
  const [status, setStatus] = useState<UserStatus>('active')
  const [changed, change] = useState<PlatformUser | null>(null)
  const { data: session } = useQuery(sessionQuery)
  const query = useInfiniteQuery(usersQuery(useDebounced(search.trim()), status))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(() => columnsOfPeople(session?.user.id, change), [session?.user.id])
  return (
    <>
      <div className="grid max-w-2xl gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('Search by name or e-mail')}
          type="search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <SelectField label={t('Shown')} value={status} onChange={({ target }) => setStatus(target.value as UserStatus)}>
          <option value="active">{t('Active accounts')}</option>
          <option value="disabled">{t('Disabled accounts')}</option>
        </SelectField>
      </div>
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        empty={<p>{status === 'active' ? t('Nobody uses this installation yet.') : t('Nobody is disabled.')}</p>}
        clearFilter={search === '' ? undefined : () => setSearch('')}
      >
        <Card>
          <DataTable caption={t('People')} columns={columns} rows={rows} rowKey={({ userId }) => userId} more={query} />
        </Card>
      </ListState>
      {changed !== null && <ChangeAccess user={changed} close={() => change(null)} />}
    </>
  )
}

function columnsOfPeople(self: string | undefined, change: (user: PlatformUser) => void): Column<PlatformUser>[] {
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
    {
      id: 'access',
      header: t('Access'),
      align: 'end',
      cell: (user) => user.userId !== self && <AccessButton user={user} change={change} />,
    },
  ]
}

function AccessButton({ user, change }: { user: PlatformUser; change: (user: PlatformUser) => void }) {
  const { name, disabledAt } = user
  return disabledAt === null ? (
    <Button look="danger" aria-label={t('Disable {name}', { name })} onClick={() => change(user)}>
      {t('Disable')}
    </Button>
  ) : (
    <Button aria-label={t('Enable {name}', { name })} onClick={() => change(user)}>
      {t('Enable')}
    </Button>
  )
}

/** Services have no session, so their last visit is unknown. */
function LastSeen({ user: { kind, lastSeenAt } }: { user: PlatformUser }) {
  if (lastSeenAt === null) return kind === 'service' ? '–' : t('never')
  return <time title={formatTimeInFull(lastSeenAt)}>{formatRecent(lastSeenAt)}</time>
}
