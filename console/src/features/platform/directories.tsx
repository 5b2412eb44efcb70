import type { Directory } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'
import { DirectoryForm } from './directory-form.tsx'
import { DirectoryPeople } from './directory-people.tsx'
import { directoriesQuery } from './queries.ts'

/** The directories of companies, which say who works there. One platform administrator sets one up, another confirms it. */
export function Directories() {
  const query = useInfiniteQuery(directoriesQuery)
  const directories = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [edited, edit] = useState<Directory | 'new' | null>(null)
  const [token, setToken] = useState<string | null>(null)
  const [shown, show] = useState<Directory | null>(null)
  return (
    <Card title={t('Directories')}>
      <p className="mb-4">
        {t('A directory says who works at a company (SCIM 2.0). It stops people at once, and gives nobody a right.')}
      </p>
      <ListState query={query} isEmpty={directories.length === 0} empty={<p>{t('There is no directory.')}</p>}>
        <ul className="grid gap-4">
          {directories.map((directory) => (
            <Row
              key={directory.id}
              directory={directory}
              edit={() => edit(directory)}
              showPeople={() => show(directory)}
              showToken={setToken}
            />
          ))}
        </ul>
      </ListState>
      <div className="mt-4">
        <Button look="primary" onClick={() => edit('new')}>
          {t('Add a directory')}
        </Button>
      </div>
      <Sheet title={t('Directory')} open={edited !== null} onClose={() => edit(null)}>
        {edited !== null && (
          <DirectoryForm
            directory={edited === 'new' ? null : edited}
            onDone={(made) => {
              edit(null)
              setToken(made ?? null)
            }}
          />
        )}
      </Sheet>
      <Sheet title={t('The token of the directory')} open={token !== null} onClose={() => setToken(null)}>
        {token !== null && <Token token={token} />}
      </Sheet>
      <Sheet title={t('People of the directory')} open={shown !== null} onClose={() => show(null)}>
        {shown !== null && <DirectoryPeople directory={shown} />}
      </Sheet>
    </Card>
  )
}

/** The token is answered only once. Who loses it makes another. */
function Token({ token }: { token: string }) {
  return (
    <>
      <p className="mb-3">{t('Set it in the directory now: it is shown only once.')}</p>
      <p className="flex items-center gap-2">
        <span className="code [overflow-wrap:anywhere]">{token}</span>
        <CopyButton text={token} label={t('Copy the token')} />
      </p>
    </>
  )
}

type RowProps = {
  directory: Directory
  edit: () => void
  showPeople: () => void
  showToken: (token: string | null) => void
}

function Row({ directory, edit, showPeople, showToken }: RowProps) {
  const { id, name, domains, status, baseUri, lastSeenAt, tokenExpiresAt, peopleCount, activeCount } = directory
  const { data: session } = useQuery(sessionQuery)
  const client = useQueryClient()
  const refresh = () => {
    for (const key of ['directories', 'platform-changes']) void client.invalidateQueries({ queryKey: [key] })
  }
  const act = useMutation({
    mutationFn: async () => {
      await (status === 'active' ? strongroom.directories.deactivate(id) : strongroom.directories.activate(id))
    },
    onSuccess: () => {
      refresh()
      announce(
        status === 'active'
          ? t('The directory is stopped.')
          : t('The change waits for another platform administrator.'),
      )
    },
  })
  const rotate = useMutation({
    mutationFn: () => strongroom.directories.rotateToken(id, {}),
    onSuccess: ({ token = null }) => {
      refresh()
      showToken(token)
    },
  })
  const failed = [act, rotate].find(({ isError }) => isError)
  const authorOnly =
    session?.user.id === directory.createdById ? null : t('Only the platform administrator who added it does this.')
  return (
    <li className="border-b border-line pb-4 last:border-0">
      <p className="mb-2 flex flex-wrap items-center gap-2">
        <Badge tone={status === 'active' ? 'good' : 'waiting'}>
          {status === 'active' ? t('Active') : t('Not active')}
        </Badge>
        {directory.heldCount > 0 && (
          <Badge tone="bad">{t('{count} stops wait', { count: String(directory.heldCount) })}</Badge>
        )}
        <span className="font-medium">{name}</span>
      </p>
      <Facts
        facts={[
          [t('Domains'), domains.join(', ')],
          [
            t('Address for the directory'),
            <span key="base" className="flex items-center gap-2">
              <span className="code [overflow-wrap:anywhere]">{baseUri}</span>
              <CopyButton text={baseUri} label={t('Copy the address')} />
            </span>,
          ],
          [t('Last contact'), lastSeenAt === null ? t('never') : formatTime(lastSeenAt)],
          [t('End of the token'), formatTime(tokenExpiresAt)],
          [t('People'), String(peopleCount)],
          [t('Active people'), String(activeCount)],
        ]}
      />
      {failed !== undefined && <Failed error={failed.error} retry={() => failed.mutate()} />}
      <div className="mt-3 flex flex-wrap gap-2">
        {status === 'active' ? (
          <Button look="danger" busy={act.isPending} onClick={() => act.mutate()}>
            {t('Stop')}
          </Button>
        ) : (
          <>
            <Button look="quiet" disabledBecause={authorOnly} onClick={edit}>
              {t('Change')}
            </Button>
            <Button look="primary" busy={act.isPending} disabledBecause={authorOnly} onClick={() => act.mutate()}>
              {t('Ask for activation')}
            </Button>
          </>
        )}
        <Button look="quiet" busy={rotate.isPending} onClick={() => rotate.mutate()}>
          {t('New token')}
        </Button>
        <Button look="quiet" onClick={showPeople}>
          {t('People')}
        </Button>
      </div>
    </li>
  )
}
