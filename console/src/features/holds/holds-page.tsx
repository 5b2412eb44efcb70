import type { Hold } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Amount } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Page } from '../../ui/page.tsx'
import { membersQuery } from '../people/queries.ts'
import { vaultQuery } from '../vault-settings/queries.ts'
import { ConfirmHold } from './confirm-hold.tsx'
import { PlaceHold } from './place-hold.tsx'
import { holdsQuery, type SubjectType, useMayPlace, useMayRelease } from './queries.ts'
import { ReleaseHold } from './release-hold.tsx'
import { nameOfHeld, pathOf, placerOf, subjectTypes, subjectWord } from './words.ts'

export type HoldsSearch = { state?: 'all'; type?: SubjectType; user?: string }

type HoldsPageProps = { code: string; search: HoldsSearch; change: (changed: HoldsSearch) => void }

/** The holds of the vault, active and released, with their placers and reasons. */
export function HoldsPage({ code, search, change }: HoldsPageProps) {
  const filter = {
    ...(search.state === 'all' ? {} : { active: true }),
    ...(search.type === undefined ? {} : { subjectType: search.type }),
  }
  const query = useInfiniteQuery(holdsQuery(code, filter))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [released, release] = useState<Hold | null>(null)
  const mayRelease = useMayRelease(code)
  return (
    <Page title={t('On hold')} actions={<HoldVault code={code} />}>
      <p className="mb-4 max-w-3xl text-quiet">
        {t(
          'A hold stops its subject at once, whatever the policies say. Place a hold on an address, deposit, transfer or counterparty on its own page, and a hold on a person on the page “People”.',
        )}
      </p>
      <div className="mb-4 grid max-w-xl gap-x-4 sm:grid-cols-2">
        <SelectField
          label={t('Show')}
          value={search.state ?? ''}
          onChange={({ target }) =>
            change({ ...search, ...(target.value === 'all' ? { state: 'all' } : { state: undefined }) } as HoldsSearch)
          }
        >
          <option value="">{t('in force')}</option>
          <option value="all">{t('all')}</option>
        </SelectField>
        <SelectField
          label={t('Kind')}
          value={search.type ?? ''}
          onChange={({ target }) =>
            change({ ...search, type: (target.value || undefined) as SubjectType } as HoldsSearch)
          }
        >
          <option value="">{t('all')}</option>
          {subjectTypes.map((type) => (
            <option key={type} value={type}>
              {subjectWord(type)}
            </option>
          ))}
        </SelectField>
      </div>
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('Nothing is held.')}</p>}>
        <DataTable
          caption={t('On hold')}
          columns={columnsOf(code, mayRelease ? release : null)}
          rows={rows}
          rowKey={({ id }) => id}
          more={query}
        />
      </ListState>
      {released !== null && <ReleaseHold code={code} hold={released} close={() => release(null)} />}
      {search.user !== undefined && (
        <HoldPerson
          code={code}
          userId={search.user}
          close={() => change({ ...search, user: undefined } as HoldsSearch)}
        />
      )}
    </Page>
  )
}

function columnsOf(code: string, release: ((hold: Hold) => void) | null): Column<Hold>[] {
  const columns: Column<Hold>[] = [
    {
      id: 'subject',
      header: t('What is held'),
      cell: (hold) => (
        <div>
          <Link to={pathOf(code, hold) as '/'} className="text-accent underline [overflow-wrap:anywhere]">
            {nameOfHeld(hold)}
          </Link>
          {hold.reserved !== null && (
            <span className="block text-quiet">
              <Amount decimal={hold.reserved.amountDecimal} unit={hold.reserved.asset} />
            </span>
          )}
        </div>
      ),
    },
    {
      id: 'reason',
      header: t('Reason'),
      cell: ({ reason }) => <span className="[overflow-wrap:anywhere]">{reason}</span>,
    },
    {
      id: 'placed',
      header: t('Placed'),
      cell: (hold) => (
        <div>
          {formatTime(hold.createdAt)}
          <span className="block text-quiet">{placerOf(hold)}</span>
        </div>
      ),
    },
    {
      id: 'state',
      header: t('State'),
      cell: ({ isActive, endsAt, confirmedAt, releasedAt, releaseReason }) =>
        isActive ? (
          <>
            <Badge tone="bad">{t('in force')}</Badge>
            {endsAt !== null && confirmedAt === null && (
              <span className="block text-quiet">
                {t('ends {time} unless a second person confirms it', { time: formatTime(endsAt) })}
              </span>
            )}
          </>
        ) : (
          <span title={releaseReason ?? ''}>
            {t('Released {time}', { time: releasedAt === null ? '' : formatTime(releasedAt) })}
          </span>
        ),
    },
  ]
  if (release === null) return columns
  const actions: Column<Hold> = {
    id: 'actions',
    header: t('Actions'),
    align: 'end',
    cell: (hold) =>
      hold.isActive ? (
        <div className="flex flex-wrap justify-end gap-2">
          <ConfirmHold code={code} hold={hold} />
          <Button
            aria-label={t('Release the hold on {subject}?', { subject: nameOfHeld(hold) })}
            onClick={() => release(hold)}
          >
            {t('Release')}
          </Button>
        </div>
      ) : null,
  }
  return [...columns, actions]
}

function HoldVault({ code }: { code: string }) {
  const [placing, place] = useState(false)
  const mayPlace = useMayPlace(code)
  const { data: vault } = useQuery(vaultQuery(code))
  if (!mayPlace || vault === undefined) return null
  return (
    <>
      <Button look="danger" onClick={() => place(true)}>
        {t('Hold the whole vault')}
      </Button>
      {placing && (
        <PlaceHold
          code={code}
          subject={{ type: 'vault', id: vault.id }}
          name={t('the vault {name}', { name: vault.name })}
          close={() => place(false)}
        />
      )}
    </>
  )
}

/** Opened from the page of the people, with the person in the URL. */
function HoldPerson({ code, userId, close }: { code: string; userId: string; close: () => void }) {
  const { data: members } = useQuery(membersQuery(code))
  const mayPlace = useMayPlace(code)
  const member = members?.find((person) => person.userId === userId)
  if (!mayPlace || member === undefined) return null
  return <PlaceHold code={code} subject={{ type: 'user', id: userId }} name={member.name} close={close} />
}
