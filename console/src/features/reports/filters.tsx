import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/choice.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { statusChoices } from '../../ui/operation-status.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { feeKindChoices } from './fee-words.tsx'
import type { SettingsProps } from './parameters.ts'
import { isTaken, type ListName, listOf, type SearchName } from './parameters.ts'
import { gaps, gapWords } from './quality.ts'
import {
  addressOptions,
  categoryOptions,
  counterpartyGroupOptions,
  counterpartyOptions,
  folderOptions,
  memberOptions,
  networkOptions,
  type Option,
  policyOptions,
  tokenOptions,
} from './queries.ts'

type Filter = { name: ListName; label: string; options: Option[] | object }

/** Returns the filters of a report, each with the source of its values. */
function filtersOf(code: string): Filter[] {
  return [
    { name: 'statuses', label: t('Status'), options: statusChoices().map(([value, label]) => ({ value, label })) },
    {
      name: 'flowTypes',
      label: t('Other side'),
      options: [
        { value: 'external', label: t('With others') },
        { value: 'internal', label: t('Within the vault') },
      ],
    },
    { name: 'tokenIds', label: t('Token'), options: tokenOptions },
    { name: 'networkIds', label: t('Network'), options: networkOptions },
    { name: 'ownAddressIds', label: t('Address'), options: addressOptions(code) },
    { name: 'folderIds', label: t('Folder'), options: folderOptions(code) },
    { name: 'counterpartyIds', label: t('Counterparty'), options: counterpartyOptions(code) },
    { name: 'counterpartyGroupIds', label: t('Group of counterparties'), options: counterpartyGroupOptions(code) },
    { name: 'initiatorIds', label: t('Initiator'), options: memberOptions(code) },
    { name: 'categories', label: t('Category'), options: categoryOptions(code) },
    { name: 'approvalPolicyIds', label: t('Policy that asked for votes'), options: policyOptions(code) },
    { name: 'feePayerIds', label: t('Paid the network fee'), options: addressOptions(code) },
    { name: 'feeKinds', label: t('Network fee for'), options: feeKindChoices() },
    {
      name: 'exceptions',
      label: t('What is missing'),
      options: gaps
        .filter((gap) => gap !== 'ledgerReconciliationDifferences')
        .map((value) => ({ value, label: gapWords(value).title })),
    },
  ]
}

/** The active filters as chips, and a control to add a filter. */
export function Filters({ code, type, search, change }: SettingsProps) {
  const [open, setOpen] = useState(false)
  const filters = filtersOf(code).filter(({ name }) => isTaken(type, name))
  if (filters.length === 0) return null
  const amounts = [
    ['minimumAmount', t('At least {amount}', { amount: search.minimumAmount })],
    ['maximumAmount', t('At most {amount}', { amount: search.maximumAmount })],
  ] as const
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <ul aria-label={t('Filters')} className="contents">
        {filters.map((filter) => (
          <FilterChips key={filter.name} filter={filter} values={listOf(search[filter.name])} change={change} />
        ))}
        {amounts.map(
          ([name, text]) =>
            search[name] !== undefined && (
              <Chip key={name} text={text} onRemove={() => change({ [name]: undefined })} />
            ),
        )}
      </ul>
      <Button look="quiet" icon={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {t('Add a filter')}
      </Button>
      <Sheet title={t('Add a filter')} open={open} onClose={() => setOpen(false)}>
        <AddFilter
          filters={filters}
          onAdd={(name, value) => {
            const isList = filters.some((filter) => filter.name === name)
            const values = isList ? [...new Set([...listOf(search[name]), value])].join(',') : value
            change({ [name]: values })
            setOpen(false)
          }}
        />
      </Sheet>
    </div>
  )
}

type FilterChipsProps = { filter: Filter; values: readonly string[]; change: SettingsProps['change'] }

function FilterChips({ filter: { name, label, options }, values, change }: FilterChipsProps) {
  const known = useOptions(options, values.length > 0)
  return values.map((value) => (
    <Chip
      key={value}
      text={`${label}: ${known.find((option) => option.value === value)?.label ?? value}`}
      onRemove={() => change({ [name]: values.filter((other) => other !== value).join(',') || undefined })}
    />
  ))
}

function useOptions(options: Filter['options'], enabled: boolean): Option[] {
  const isFixed = Array.isArray(options)
  const query = isFixed ? { queryKey: ['no options'], queryFn: () => [] } : options
  const { data } = useQuery({ ...(query as UseQueryOptions<Option[]>), enabled: enabled && !isFixed })
  return isFixed ? options : (data ?? [])
}

type AddFilterProps = { filters: readonly Filter[]; onAdd: (name: SearchName, value: string) => void }

function AddFilter({ filters, onAdd }: AddFilterProps) {
  const [name, setName] = useState<SearchName>(filters[0]!.name)
  const [value, setValue] = useState('')
  const filter = filters.find((candidate) => candidate.name === name)
  const options = useOptions(filter?.options ?? [], true)
  const isAmount = filter === undefined
  const isFaulty = isAmount && value !== '' && !/^\d+(\.\d+)?$/.test(value)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (value !== '' && !isFaulty) onAdd(name, value)
      }}
    >
      <SelectField
        label={t('Filter by')}
        value={name}
        onChange={({ target }) => {
          setName(target.value as SearchName)
          setValue('')
        }}
      >
        {filters.map((option) => (
          <option key={option.name} value={option.name}>
            {option.label}
          </option>
        ))}
        <option value="minimumAmount">{t('Smallest amount')}</option>
        <option value="maximumAmount">{t('Largest amount')}</option>
      </SelectField>
      {isAmount ? (
        <TextField
          label={t('Amount')}
          inputMode="decimal"
          hint={t('In units of the token, with a decimal point: 1000.50')}
          error={isFaulty ? t('Write digits, and a point before decimals.') : null}
          value={value}
          onChange={({ target }) => setValue(target.value.trim())}
        />
      ) : (
        <SelectField label={filter.label} value={value} onChange={({ target }) => setValue(target.value)}>
          <option value="">{t('Choose')}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </SelectField>
      )}
      <Button type="submit" look="primary" disabledBecause={value === '' ? t('Choose a value first.') : null}>
        {t('Add')}
      </Button>
    </form>
  )
}
