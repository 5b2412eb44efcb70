import type { Session } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'
import { deviceOf } from '../../lib/device.ts'
import { t } from '../../lib/language.ts'
import { signInMethodOf } from '../../lib/sign-in-method.ts'
import { formatRecent, formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { sessionsQuery } from './queries.ts'

/** The sessions of the reader. The reader ends a session that they do not recognise. */
export function Sessions() {
  const client = useQueryClient()
  const query = useInfiniteQuery(sessionsQuery)
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const end = useMutation({
    mutationFn: async (id: string | 'all others') => {
      if (id === 'all others') await strongroom.auth.signOutEverywhere({ keepCurrent: true })
      else await strongroom.auth.revokeSession(id)
    },
    onSuccess: () => announce(t('Signed out there.')),
    onSettled: () => client.invalidateQueries({ queryKey: ['own sessions'] }),
  })
  const hasOthers = rows.some(({ current }) => !current)
  const columns: Column<Session>[] = [
    {
      id: 'device',
      header: t('Device'),
      cell: ({ userAgent, current }) => (
        <div>
          <span title={userAgent ?? ''}>{deviceOf(userAgent) ?? t('Unknown')}</span>{' '}
          {current && <Badge tone="good">{t('This one')}</Badge>}
        </div>
      ),
    },
    { id: 'method', header: t('How'), cell: signInMethodOf },
    { id: 'ip', header: t('Network address'), cell: ({ ip }) => <span className="code">{ip ?? '–'}</span> },
    {
      id: 'seen',
      header: t('Last seen'),
      cell: ({ lastSeenAt }) => <time title={formatTimeInFull(lastSeenAt)}>{formatRecent(lastSeenAt)}</time>,
    },
    { id: 'since', header: t('Signed in'), cell: ({ createdAt }) => formatTime(createdAt) },
    {
      id: 'end',
      header: t('Actions'),
      cell: ({ id, current, userAgent }) =>
        current ? null : (
          <Button
            look="quiet"
            busy={end.isPending}
            aria-label={t('Sign out on {device}', { device: deviceOf(userAgent) ?? t('Unknown') })}
            onClick={() => end.mutate(id)}
          >
            {t('Sign out')}
          </Button>
        ),
    },
  ]
  return (
    <Card
      title={t('Signed in on')}
      actions={
        hasOthers && (
          <Button busy={end.isPending} onClick={() => end.mutate('all others')}>
            {t('Sign out everywhere else')}
          </Button>
        )
      }
    >
      {end.isError && <Failed error={end.error} retry={() => end.reset()} />}
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('There is no session.')}</p>}>
        <DataTable caption={t('Signed in on')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </ListState>
    </Card>
  )
}
