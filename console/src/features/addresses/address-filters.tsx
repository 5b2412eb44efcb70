import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { tokensQuery } from './queries.ts'

type Props = {
  search: string
  token: string
  change: (part: { search?: string | undefined; token?: string | undefined }) => void
  selected: number
  moveSelected: () => void
  clearSelection: () => void
}

export function AddressFilters({ search, token, change, selected, moveSelected, clearSelection }: Props) {
  const tokens = useQuery(tokensQuery).data ?? []
  const [text, setText] = useState(search)
  const settled = useDebounced(text.trim())
  useEffect(() => {
    if (settled !== search) change({ search: settled === '' ? undefined : settled })
  }, [settled])
  return (
    <div className="flex flex-wrap items-end gap-x-3">
      <div className="min-w-48 grow">
        <TextField
          label={t('Search')}
          type="search"
          placeholder={t('Name or part of an address')}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <SelectField
        label={t('Main token')}
        value={token}
        onChange={({ target }) => change({ token: target.value === '' ? undefined : target.value })}
      >
        <option value="">{t('any')}</option>
        {tokens.map(({ id, code, symbol }) => (
          <option key={id} value={code}>
            {symbol === code ? symbol : `${symbol} (${code})`}
          </option>
        ))}
      </SelectField>
      {selected > 0 && (
        <div className="mb-4 flex gap-2">
          <Button look="primary" onClick={moveSelected}>
            {t('Put {count} into a folder', { count: selected })}
          </Button>
          <Button onClick={clearSelection}>{t('Select none')}</Button>
        </div>
      )}
    </div>
  )
}
