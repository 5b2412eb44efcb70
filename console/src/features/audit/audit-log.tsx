import type { AuditRecord } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { memberOptions } from '../reports/queries.ts'
import { type AuditSearch, filterNames } from './filter.ts'
import { type AuditFilter, auditQuery, type Log } from './queries.ts'
import { RecordSheet } from './record-sheet.tsx'
import { RecordTable } from './record-table.tsx'
import { Verification } from './verification.tsx'
import { actions, actionWords } from './words.ts'

type AuditProps = { log: Log; search: AuditSearch; change: (changed: AuditSearch) => void }

/** The audit log: every action with its actor, time and changes, and the proof that no record was changed since. */
export default function AuditLog({ log, search, change }: AuditProps) {
  const [open, setOpen] = useState<AuditRecord | null>(null)
  const query = useInfiniteQuery(auditQuery(log, search as AuditFilter))
  const records = query.data?.pages.flatMap(({ items }) => items) ?? []
  const names = useNames(log, records)
  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () => change({ actor: '', action: '', target: '', from: '', to: '' })
  return (
    <>
      <Verification log={log} records={records} />
      <Card>
        <Filters names={names} search={search} change={change} />
        {isFiltered && <Button onClick={clear}>{t('Clear the filter')}</Button>}
      </Card>
      <ListState
        query={query}
        isEmpty={records.length === 0}
        empty={<p>{t('There are no records yet.')}</p>}
        clearFilter={isFiltered ? clear : undefined}
      >
        <Card>
          <RecordTable log={log} records={records} more={query} onOpen={setOpen} />
        </Card>
      </ListState>
      <RecordSheet log={log} record={open} onClose={() => setOpen(null)} onFilter={change} />
    </>
  )
}

/** Returns the names of actors that the filter offers, by id: the members, and the actors of the shown records. */
function useNames(log: Log, records: readonly AuditRecord[]): ReadonlyMap<string, string> {
  const code = log === 'platform' ? '' : log.code
  const { data = [] } = useQuery({ ...memberOptions(code), enabled: code !== '' })
  const actors = records.flatMap(({ actor }) => actor ?? [])
  return new Map([
    ...data.map(({ value, label }) => [value, label] as const),
    ...actors.map(({ userId, name }) => [userId, name] as const),
  ])
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
        label={t('Subject')}
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
