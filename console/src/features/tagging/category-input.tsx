import type { CategoryField } from '@strongroom/sdk'
import type { UseFormRegisterReturn } from 'react-hook-form'
import { t } from '../../lib/language.ts'
import { SelectField, TextField } from '../../ui/field.tsx'

type CategoryInputProps = UseFormRegisterReturn & { field: CategoryField; error: string | undefined }

/** The input of a field of a category, by its type. */
export function CategoryInput({ field, error, ...rest }: CategoryInputProps) {
  const { label, type, required, helpText, unit, optionsJson } = field
  const common = {
    label: required ? label : t('{label} (optional)', { label }),
    error,
    ...(helpText === null ? {} : { hint: helpText }),
    ...rest,
  }
  if (type === 'boolean' || type === 'select') {
    return (
      <SelectField {...common}>
        <option value="">{t('No choice')}</option>
        {optionsOf(type, optionsJson).map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
    )
  }
  const withUnit = unit === null ? common : { ...common, label: `${common.label} · ${unit}` }
  return <TextField {...withUnit} {...inputs[type]} />
}

function optionsOf(type: string, options: CategoryField['optionsJson']): { value: string; label: string }[] {
  if (type === 'select') return options ?? []
  return [
    { value: 'true', label: t('Yes') },
    { value: 'false', label: t('No') },
  ]
}

const inputs = {
  text: { type: 'text' },
  url: { type: 'url' },
  date: { type: 'date' },
  datetime: { type: 'datetime-local' },
  number: { type: 'text', inputMode: 'decimal' },
  currency: { type: 'text', inputMode: 'decimal' },
} as const
