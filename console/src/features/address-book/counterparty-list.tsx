import type { Counterparty } from '@strongroom/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { type Kind, kinds, kindWords } from '../../lib/counterparty-kinds.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { type CounterpartyFilter, counterpartiesQuery } from './queries.ts'

type Props = { code: string; filter: CounterpartyFilter; change: (filter: CounterpartyFilter) => void }

/** The counterparties, found by name, label or a part of an address. */
export function CounterpartyList({ code, filter, change }: Props) {
  const query = useInfiniteQuery(counterpartiesQuery(code, { archived: false, ...filter }))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns = useMemo(() => columnsOf(code), [code])
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <div className="rounded-lg border border-line bg-paper p-4">
      <Filters filter={filter} change={change} />
      <ListState
        query={query}
        isEmpty={rows.length === 0}
        clearFilter={isFiltered ? () => change({}) : undefined}
        empty={
          <p>{t('Nobody is in the address book yet. Add those whom you pay: policies can then trust them by name.')}</p>
        }
      >
        <DataTable caption={t('Address book')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </ListState>
    </div>
  )
}

function Filters({ filter, change }: Omit<Props, 'code'>) {
  const [text, setText] = useState(filter.search ?? '')
  const settled = useDebounced(text.trim())
  useEffect(() => {
    if (settled !== (filter.search ?? '')) change({ ...filter, search: settled === '' ? undefined : settled })
  }, [settled])
  return (
    <div className="flex flex-wrap items-end gap-x-3">
      <div className="min-w-48 grow">
        <TextField
          label={t('Search')}
          type="search"
          placeholder={t('Name, label or part of an address')}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <SelectField
        label={t('Kind')}
        value={filter.kind ?? ''}
        onChange={({ target }) => change({ ...filter, kind: target.value === '' ? undefined : (target.value as Kind) })}
      >
        <option value="">{t('any')}</option>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {kindWords()[kind]}
          </option>
        ))}
      </SelectField>
      <CheckField
        label={t('Archived')}
        checked={filter.archived === true}
        onChange={({ target }) => change({ ...filter, archived: target.checked ? true : undefined })}
      />
    </div>
  )
}

function columnsOf(code: string): Column<Counterparty>[] {
  return [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ id, name, emoji, avatarUri, archivedAt }) => (
        <span className="flex flex-wrap items-center gap-2">
          <Avatar name={name} image={avatarUri} />
          <Link to={`/v/${code}/address-book/${id}` as '/'} className="font-medium text-accent hover:underline">
            {emoji !== null && <span aria-hidden>{emoji} </span>}
            {name}
          </Link>
          {archivedAt !== null && <Badge tone="neutral">{t('archived')}</Badge>}
        </span>
      ),
    },
    { id: 'kind', header: t('Kind'), cell: ({ kind }) => kindWords()[kind] },
    {
      id: 'addresses',
      header: t('Addresses'),
      cell: ({ addresses }) => (
        <span className="inline-grid gap-0.5">
          {addresses.slice(0, 2).map(({ id, address, label }) => (
            <Address key={id} address={address} name={label} />
          ))}
          {addresses.length === 0 && <span className="text-quiet">{t('none yet')}</span>}
          {addresses.length > 2 && (
            <span className="text-quiet">{t('and {count} more', { count: addresses.length - 2 })}</span>
          )}
        </span>
      ),
    },
    { id: 'groups', header: t('Groups'), cell: ({ groups }) => groups.map(({ name }) => name).join(', ') || '–' },
  ]
}
