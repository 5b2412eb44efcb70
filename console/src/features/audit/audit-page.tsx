import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { memberOptions } from '../reports/queries.ts'
import { type AuditSearch, filterNames } from './filter.ts'
import { type AuditFilter, auditQuery, type Log } from './queries.ts'
import { RecordSheet } from './record-sheet.tsx'
import { RecordTable, type ShownRecord } from './record-table.tsx'
import { Verification } from './verification.tsx'
import { actions, actionWords } from './words.ts'

type AuditProps = { log: Log; title: string; search: AuditSearch; change: (changed: AuditSearch) => void }

/** Who did what and when, with what changed, and the proof that nothing was changed since. */
export function AuditPage({ log, title, search, change }: AuditProps) {
  const [open, setOpen] = useState<ShownRecord | null>(null)
  const query = useInfiniteQuery(auditQuery(log, search as AuditFilter))
  const names = useNames(log)
  const records = (query.data?.pages.flatMap(({ items }) => items) ?? []).map(
    (record): ShownRecord => ({ ...record, actorName: names.get(record.actorId ?? '') ?? null }),
  )
  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () => change({ actor: '', action: '', target: '', from: '', to: '' })
  return (
    <Page title={title}>
      <Verification log={log} records={records} />
      <Card>
        <Filters names={names} search={search} change={change} />
        {isFiltered && <Button onClick={clear}>{t('Clear the filter')}</Button>}
      </Card>
      <ListState
        query={query}
        isEmpty={records.length === 0}
        empty={<p>{t('Nothing is on record yet.')}</p>}
        clearFilter={isFiltered ? clear : undefined}
      >
        <Card>
          <RecordTable log={log} records={records} more={query} onOpen={setOpen} />
        </Card>
      </ListState>
      <RecordSheet log={log} record={open} onClose={() => setOpen(null)} onFilter={change} />
    </Page>
  )
}

/** Who the members are, by id. Who has left the vault stays an id. */
function useNames(log: Log): ReadonlyMap<string, string> {
  const code = log === 'platform' ? '' : log.code
  const { data } = useQuery({ ...memberOptions(code), enabled: code !== '' })
  return useMemo(() => new Map(data?.map(({ value, label }) => [value, label])), [data])
}

type FiltersProps = { names: ReadonlyMap<string, string> } & Pick<AuditProps, 'search' | 'change'>

function Filters({ names, search, change }: FiltersProps) {
  return (
    <div className="grid gap-x-4 sm:grid-cols-2 lg:grid-cols-5">
      <SelectField
        label={t('Who')}
        value={search.actor ?? ''}
        onChange={({ target }) => change({ actor: target.value })}
      >
        <option value="">{t('Anybody')}</option>
        {search.actor !== undefined && !names.has(search.actor) && <option value={search.actor}>{search.actor}</option>}
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t('What')}
        value={search.action ?? ''}
        onChange={({ target }) => change({ action: target.value })}
      >
        <option value="">{t('Everything')}</option>
        {[...new Set([...actions, ...(search.action === undefined ? [] : [search.action])])].map((action) => (
          <option key={action} value={action}>
            {actionWords(action)}
          </option>
        ))}
      </SelectField>
      <TextField
        label={t('On what')}
        placeholder={t('Identifier')}
        key={search.target}
        defaultValue={search.target ?? ''}
        onBlur={({ target }) => change({ target: target.value.trim() })}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && change({ target: currentTarget.value.trim() })}
      />
      <TextField
        label={t('From')}
        type="date"
        hint={t('Days of UTC')}
        value={search.from ?? ''}
        onChange={({ target }) => change({ from: target.value })}
      />
      <TextField
        label={t('Until')}
        type="date"
        value={search.to ?? ''}
        onChange={({ target }) => change({ to: target.value })}
      />
    </div>
  )
}
