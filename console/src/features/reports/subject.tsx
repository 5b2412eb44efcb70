import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { SelectField } from '../../ui/field.tsx'
import type { SearchName, SettingsProps } from './parameters.ts'
import {
  addressOptions,
  categoryOptions,
  counterpartyGroupOptions,
  counterpartyOptions,
  folderOptions,
  type Option,
  tokenOptions,
} from './queries.ts'

/** The subject of the report, if its type has one. */
export function Subject({ code, type, search, change }: SettingsProps) {
  const choose = (name: SearchName, label: string, query: object, alternative?: SearchName) => (
    <Choice
      label={label}
      query={query}
      value={search[name]}
      onChoose={(value) =>
        change({ [name]: value, ...(alternative === undefined ? {} : { [alternative]: undefined }) })
      }
    />
  )
  if (type === 'address_activity') {
    return (
      <>
        {choose('addressId', t('Address'), addressOptions(code), 'folderId')}
        {choose('folderId', t('or folder'), folderOptions(code), 'addressId')}
      </>
    )
  }
  if (type === 'account_statement') {
    return (
      <>
        {choose('addressId', t('Address'), addressOptions(code))}
        {choose('tokenId', t('Token'), tokenOptions)}
      </>
    )
  }
  if (type === 'counterparty_activity') return choose('counterpartyId', t('Counterparty'), counterpartyOptions(code))
  if (type === 'counterparty_group_activity') {
    return choose('counterpartyGroupId', t('Group of counterparties'), counterpartyGroupOptions(code))
  }
  if (type === 'category_analytics') return choose('categoryKey', t('Category'), categoryOptions(code))
  return null
}

type ChoiceProps = {
  label: string
  query: object
  value: string | undefined
  onChoose: (value: string | undefined) => void
}

/** A choice. A value of a link that is not among the options stays chosen. */
function Choice({ label, query, value, onChoose }: ChoiceProps) {
  const { data: options, isError } = useQuery(query as UseQueryOptions<Option[]>)
  const isKnown = value === undefined || options?.some((option) => option.value === value)
  return (
    <SelectField
      label={label}
      value={value ?? ''}
      error={isError ? t('The choices could not be loaded.') : null}
      onChange={({ target }) => onChoose(target.value === '' ? undefined : target.value)}
    >
      <option value="">{options?.length === 0 ? t('None available') : t('Choose')}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {options?.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </SelectField>
  )
}
