import type { ChangeSetListItem, RulesVersionListItem } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeLeft } from '../../lib/time.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { DetailState, ListState } from '../../ui/list-states.tsx'
import { Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { AddChange } from './add-change.tsx'
import { Differences, type PolicySentence } from './differences.tsx'
import { changeSetsQuery, versionQuery, versionsQuery } from './queries.ts'
import { GovernanceSettings } from './settings.tsx'
import type { RulesTab } from './tabs.ts'
import { directionOf, kindOf, statusOf } from './words.ts'

type RulesPageProps = {
  code: string
  tab: RulesTab
  choose: (tab: RulesTab) => void
  Sentence: PolicySentence
}

/** The rules: waiting changes, earlier versions, and the required approvals. */
export function RulesPage({ code, tab, choose, Sentence }: RulesPageProps) {
  const tabs = [
    { key: 'changes' as const, label: t('Changes') },
    { key: 'versions' as const, label: t('Versions') },
    { key: 'settings' as const, label: t('Who must agree') },
  ]
  return (
    <Page title={t('Rules of the vault')} actions={<NewDraft code={code} />}>
      <Tabs label={t('Rules of the vault')} tabs={tabs} current={tab} onChoose={(key) => choose(key as RulesTab)}>
        {tab === 'changes' && <ChangeSets code={code} />}
        {tab === 'versions' && <Versions code={code} Sentence={Sentence} />}
        {tab === 'settings' && <GovernanceSettings code={code} />}
      </Tabs>
    </Page>
  )
}

function useOpenSet(code: string) {
  const navigate = useNavigate()
  return ({ id }: { id: string }) => void navigate({ to: '/v/$code/rules/$id', params: { code, id } })
}

function NewDraft({ code }: { code: string }) {
  const [isOpen, open] = useState(false)
  const show = useOpenSet(code)
  if (!useIsAdmin(code)) return null
  return (
    <>
      <Button onClick={() => open(true)}>{t('New change set')}</Button>
      <Sheet open={isOpen} onClose={() => open(false)} title={t('New change set')}>
        <AddChange code={code} onDone={show} />
      </Sheet>
    </>
  )
}

function By({ person }: { person: NonNullable<ChangeSetListItem['author']> }) {
  return (
    <span className="inline-flex items-center gap-2">
      <Avatar name={person.name} image={person.image} /> {person.name}
    </span>
  )
}

function ChangeSets({ code }: { code: string }) {
  const query = useInfiniteQuery(changeSetsQuery(code))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<ChangeSetListItem>[] = [
    {
      id: 'title',
      header: t('Change of the rules'),
      cell: ({ id, title }) => (
        <Link to="/v/$code/rules/$id" params={{ code, id }} className="text-accent underline [overflow-wrap:anywhere]">
          {title}
        </Link>
      ),
    },
    {
      id: 'author',
      header: t('Asked by'),
      cell: ({ author, authorId }) => (author === null ? authorId : <By person={author} />),
    },
    { id: 'effect', header: t('Effect'), cell: ({ direction }) => directionOf(direction) },
    {
      id: 'state',
      header: t('State'),
      cell: ({ status, applyAt }) => (
        <div>
          <Badge tone={statusOf(status).tone}>{statusOf(status).word}</Badge>
          {status === 'scheduled' && applyAt !== null && (
            <span className="block text-quiet">{formatTimeLeft(applyAt)}</span>
          )}
        </div>
      ),
    },
    { id: 'at', header: t('Asked at'), cell: ({ createdAt }) => formatTime(createdAt) },
  ]
  return (
    <ListState
      query={query}
      isEmpty={rows.length === 0}
      empty={<p>{t('Nothing was bundled or sent for approval yet.')}</p>}
    >
      <div className="rounded-lg border border-line bg-paper">
        <DataTable
          caption={t('Rules of the vault')}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          more={query}
        />
      </div>
    </ListState>
  )
}

type VersionsProps = { code: string; Sentence: PolicySentence }

function Versions({ code, Sentence }: VersionsProps) {
  const query = useInfiniteQuery(versionsQuery(code))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const [shown, show] = useState<RulesVersionListItem | null>(null)
  const columns: Column<RulesVersionListItem>[] = [
    { id: 'number', header: t('Version'), cell: ({ number }) => String(number) },
    {
      id: 'author',
      header: t('Published by'),
      cell: ({ author, authorId }) => (author === null ? (authorId ?? t('Strongroom itself')) : <By person={author} />),
    },
    { id: 'effect', header: t('Effect'), cell: ({ direction }) => (direction === null ? '–' : directionOf(direction)) },
    { id: 'changes', header: t('What changed'), cell: ({ number }) => <Names code={code} number={number} /> },
    { id: 'at', header: t('Published at'), cell: ({ createdAt }) => formatTime(createdAt) },
    {
      id: 'actions',
      header: t('Actions'),
      align: 'end',
      cell: (row) => (
        <Button aria-label={t('What version {number} changed', { number: row.number })} onClick={() => show(row)}>
          {t('Show')}
        </Button>
      ),
    },
  ]
  return (
    <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('For administrators and auditors.')}</p>}>
      <div className="rounded-lg border border-line bg-paper">
        <DataTable
          caption={t('Versions')}
          columns={columns}
          rows={rows}
          rowKey={({ number }) => String(number)}
          more={query}
        />
      </div>
      {shown !== null && <Version {...{ code, Sentence }} version={shown} close={() => show(null)} />}
    </ListState>
  )
}

const namesShown = 3

/** Names what a version changed, in a line of the list. */
function Names({ code, number }: { code: string; number: number }) {
  const { data } = useQuery(versionQuery(code, number))
  if (data === undefined) return '…'
  const names = data.differences.map(({ id, kind, name }) => (id === null ? kindOf(kind) : `${kindOf(kind)}: ${name}`))
  const more = names.length - namesShown
  return (
    <span className="[overflow-wrap:anywhere]">
      {names.slice(0, namesShown).join(', ')}
      {more > 0 && ` ${t('and {count} more', { count: more })}`}
    </span>
  )
}

type VersionProps = VersionsProps & { version: RulesVersionListItem; close: () => void }

function Version({ code, Sentence, version, close }: VersionProps) {
  const { number, hash } = version
  const query = useQuery(versionQuery(code, number))
  const show = useOpenSet(code)
  const isAdmin = useIsAdmin(code)
  const rollBack = useWrite({
    renews: ['governance', code],
    said: t('A change set is drafted'),
    write: () => vaultOf(code).rules.rollBack(number),
    onDone: show,
  })
  return (
    <Sheet wide open title={t('Version {number}', { number })} onClose={close}>
      <p className="code mb-3 text-quiet [overflow-wrap:anywhere]">{hash}</p>
      <DetailState query={query}>
        {query.data !== undefined && <Differences {...{ code, Sentence }} differences={query.data.differences} />}
      </DetailState>
      <div className="mt-4">
        <WriteFailed write={rollBack} />
        {isAdmin && (
          <Button busy={rollBack.isPending} onClick={() => rollBack.mutate()}>
            {t('Draft a return to this version')}
          </Button>
        )}
      </div>
    </Sheet>
  )
}
