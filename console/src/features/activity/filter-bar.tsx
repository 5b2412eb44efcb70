import { fromRaw } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { SlidersHorizontal, X } from 'lucide-react'
import { memo, type ReactNode, useEffect, useId, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { dayOf } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { statusChoices } from '../../ui/operation-status.tsx'
import { type ActivityFilter, chipsOf, type FilterName, presets, withChanges } from './filter.ts'
import { FilterSheet } from './filter-sheet.tsx'
import { counterpartyChoicesQuery, membersQuery, tokensQuery } from './queries.ts'

type FilterProps = { code: string; filter: ActivityFilter; onFilter: (filter: ActivityFilter) => void }

/**
 * The filters of the list: common choices at once, the others in a sheet, and every active filter as a chip. It is not
 * drawn again while the list below loads more.
 */
export const FilterBar = memo(function FilterBar({ code, filter, onFilter }: FilterProps) {
  const [open, setOpen] = useState(false)
  const set = (changes: ActivityFilter) => onFilter(withChanges(filter, changes))
  const { data: tokens = [] } = useQuery(tokensQuery)
  return (
    <div className="mb-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchField value={filter.search} onChange={(search) => set({ search })} />
        <QuickSelect label={t('Direction')} value={filter.direction} onChange={(direction) => set({ direction })}>
          <option value="">{t('In and out')}</option>
          <option value="in">{t('Received')}</option>
          <option value="out">{t('Sent')}</option>
        </QuickSelect>
        <StatusSelect filter={filter} set={set} />
        <QuickSelect label={t('Token')} value={filter.tokenId} onChange={(tokenId) => set({ tokenId })}>
          <option value="">{t('Every token')}</option>
          {tokens.map(({ id, symbol, network }) => (
            <option key={id} value={id}>
              {symbol} · {network}
            </option>
          ))}
        </QuickSelect>
        <PeriodSelect filter={filter} set={set} />
        <JumpToDay value={filter.to} onChange={(to) => set({ to })} />
        <Button icon={<SlidersHorizontal size={16} aria-hidden />} onClick={() => setOpen(true)}>
          {t('Filters')}
        </Button>
      </div>
      <Chips code={code} filter={filter} set={set} clear={() => onFilter({})} />
      <FilterSheet code={code} filter={filter} open={open} onClose={() => setOpen(false)} onFilter={onFilter} />
    </div>
  )
})

const controlClass = 'min-h-11 rounded-md border border-line bg-paper px-2 md:min-h-9 max-w-full'

type QuickSelectProps = {
  label: string
  value: string | undefined
  onChange: (value: string) => void
  children: ReactNode
}

function QuickSelect({ label, value, onChange, children }: QuickSelectProps) {
  return (
    <select
      aria-label={label}
      className={`${controlClass} max-md:hidden ${value === undefined ? '' : 'border-accent'}`}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value)}
    >
      {children}
    </select>
  )
}

/** Searches when the reader pauses. */
function SearchField({ value, onChange }: { value: string | undefined; onChange: (value: string) => void }) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  useEffect(() => {
    const wanted = text.trim()
    // A single letter would match everything.
    if (wanted === (value ?? '') || wanted.length === 1) return
    const timer = setTimeout(() => onChange(wanted), 400)
    return () => clearTimeout(timer)
  })
  return (
    <input
      type="search"
      data-hotkey="/"
      aria-label={t('Search in purposes, notes, names, addresses and hashes')}
      placeholder={t('Search')}
      maxLength={100}
      className={`${controlClass} min-w-40 flex-1 basis-48 px-3`}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}

function StatusSelect({ filter, set }: SetProps) {
  const isSeveral = filter.statuses?.includes(',') ?? false
  return (
    <QuickSelect label={t('Status')} value={filter.statuses} onChange={(statuses) => set({ statuses })}>
      <option value="">{t('Every status')}</option>
      {isSeveral && <option value={filter.statuses}>{t('Several')}</option>}
      {statusChoices().map(([status, word]) => (
        <option key={status} value={status}>
          {word}
        </option>
      ))}
    </QuickSelect>
  )
}

type SetProps = { filter: ActivityFilter; set: (changes: ActivityFilter) => void }

function PeriodSelect({ filter, set }: SetProps) {
  const choices = presets(dayOf(new Date()))
  const chosen = choices.find(({ from, to }) => filter.from === from && filter.to === to)
  const isOther = chosen === undefined && filter.from !== undefined
  return (
    <QuickSelect
      label={t('Period')}
      value={chosen?.key ?? (isOther ? 'other' : undefined)}
      onChange={(key) => {
        const preset = choices.find((choice) => choice.key === key)
        set({ from: preset?.from ?? '', to: preset?.to ?? '' })
      }}
    >
      <option value="">{t('All time')}</option>
      {choices.map(({ key, label }) => (
        <option key={key} value={key}>
          {label}
        </option>
      ))}
      {isOther && <option value="other">{t('Other period')}</option>}
    </QuickSelect>
  )
}

/** Lets the list begin at the end of the chosen day and go back from there. */
function JumpToDay({ value, onChange }: { value: string | undefined; onChange: (day: string) => void }) {
  const id = useId()
  return (
    <span className="inline-flex items-center gap-2 max-md:hidden">
      <label htmlFor={id} className="text-quiet">
        {t('Jump to')}
      </label>
      <input
        id={id}
        type="date"
        className={controlClass}
        max={dayOf(new Date())}
        value={value?.slice(0, 10) ?? ''}
        onChange={({ target }) => onChange(target.value)}
      />
    </span>
  )
}

type ChipsProps = SetProps & { code: string; clear: () => void }

function Chips({ code, filter, set, clear }: ChipsProps) {
  const nameOf = useFilterNames(code, filter)
  const chips = chipsOf(filter, nameOf)
  if (chips.length === 0) return null
  return (
    <ul aria-label={t('Filters that are on')} className="mt-3 flex flex-wrap items-center gap-2">
      {chips.map(({ name, text }) => (
        <li key={name}>
          <button
            type="button"
            aria-label={t('Remove the filter “{text}”', { text })}
            className="inline-flex min-h-9 max-w-full items-center gap-1.5 rounded-full bg-accent-soft px-3 text-[0.8125rem] text-ink md:min-h-7"
            onClick={() => set({ [name]: '' })}
          >
            <span className="[overflow-wrap:anywhere]">{text}</span>
            <X size={14} aria-hidden />
          </button>
        </li>
      ))}
      <li>
        <Button look="quiet" onClick={clear}>
          {t('Clear all')}
        </Button>
      </li>
    </ul>
  )
}

function useFilterNames(code: string, filter: ActivityFilter) {
  const { data: tokens = [] } = useQuery(tokensQuery)
  const { data: counterparties = [] } = useQuery({
    ...counterpartyChoicesQuery(code),
    enabled: filter.counterpartyId !== undefined,
  })
  const { data: members = [] } = useQuery({ ...membersQuery(code), enabled: filter.initiatorId !== undefined })
  const token = tokens.find(({ id }) => id === filter.tokenId)
  return (name: FilterName, id: string): string | undefined => {
    if (name === 'tokenId') return token?.symbol
    if (name === 'counterpartyId') return counterparties.find((counterparty) => counterparty.id === id)?.name
    if (name === 'initiatorId') return members.find(({ userId }) => userId === id)?.name
    if (name !== 'minimumAmount' && name !== 'maximumAmount') return undefined
    return token === undefined || !/^\d+$/.test(id) ? undefined : `${formatAmount(fromRaw(id, token))} ${token.symbol}`
  }
}
