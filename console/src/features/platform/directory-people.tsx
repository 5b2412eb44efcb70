import type { Directory, DirectoryPerson } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'
import { directoryPeopleQuery } from './queries.ts'

/** The people as the directory names them, and the stops on which a platform administrator decides. */
export function DirectoryPeople({ directory }: { directory: Directory }) {
  const [held, setHeld] = useState(directory.heldCount > 0)
  const query = useInfiniteQuery(directoryPeopleQuery(directory.id, held))
  const people = query.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <p className="mb-3">
        {held
          ? t(
              'The directory stopped many people within an hour. These stops wait, because the directory may be faulty.',
            )
          : t('The people of the directory, and whether their accounts are active.')}
      </p>
      <Button look="quiet" onClick={() => setHeld(!held)}>
        {held ? t('Show everybody') : t('Show stops that wait')}
      </Button>
      <ListState query={query} isEmpty={people.length === 0} empty={<p>{t('Nobody is listed.')}</p>}>
        <ul className="mt-3 grid gap-3">
          {people.map((person) => (
            <Row key={person.userId} directoryId={directory.id} person={person} />
          ))}
        </ul>
      </ListState>
      {query.hasNextPage && (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t('Show more')}
        </Button>
      )}
    </>
  )
}

function Row({ directoryId, person }: { directoryId: string; person: DirectoryPerson }) {
  const { userId, email, userName, disabledAt, heldSince } = person
  const client = useQueryClient()
  const decide = useMutation({
    mutationFn: (decision: 'stop' | 'keep') =>
      strongroom.directories.decideStops(directoryId, { decision, userIds: [userId] }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['directories'] })
      announce(t('The decision is made.'))
    },
  })
  return (
    <li className={disabledAt === null ? '' : 'text-quiet'}>
      <p className="flex flex-wrap items-center gap-2">
        {disabledAt !== null && (
          <Badge tone="waiting">{t('Disabled since {time}', { time: formatTime(disabledAt) })}</Badge>
        )}
        {heldSince !== null && (
          <Badge tone="bad">{t('Stop waits since {time}', { time: formatTime(heldSince) })}</Badge>
        )}
        <span className="[overflow-wrap:anywhere]">{email}</span>
        {userName.toLowerCase() !== email && <span className="text-quiet">{userName}</span>}
      </p>
      {decide.isError && <Failed error={decide.error} retry={() => decide.reset()} />}
      {heldSince !== null && (
        <div className="mt-2 flex flex-wrap gap-2">
          <Button look="danger" busy={decide.isPending} onClick={() => decide.mutate('stop')}>
            {t('Disable the account')}
          </Button>
          <Button look="quiet" busy={decide.isPending} onClick={() => decide.mutate('keep')}>
            {t('Keep the account')}
          </Button>
        </div>
      )}
    </li>
  )
}
