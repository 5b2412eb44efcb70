import type { AddCategoryFieldBody, CategoryField, UpdateCategoryFieldBody } from '@strongroom/sdk'

export type FieldType = CategoryField['type']

/** The values of the form of a field: text as it is typed. */
export type FieldValues = {
  key: string
  label: string
  type: FieldType
  required: boolean
  sensitive: boolean
  options: string
  scale: string
  unit: string
  currencyFieldKey: string
  defaultText: string
  helpText: string
}

export function fieldValuesOf(field?: CategoryField): FieldValues {
  return {
    key: field?.key ?? '',
    label: field?.label ?? '',
    type: field?.type ?? 'text',
    required: field?.required ?? false,
    sensitive: field?.sensitive ?? false,
    options: formatOptions(field?.optionsJson ?? []),
    scale: field?.scale?.toString() ?? '',
    unit: field?.unit ?? '',
    currencyFieldKey: field?.currencyFieldKey ?? '',
    defaultText: field?.defaultJson === null || field === undefined ? '' : String(field.defaultJson),
    helpText: field?.helpText ?? '',
  }
}

/** Returns the body for the API. Settings that the form does not offer for the type are left out. */
export function fieldBodyOf(values: FieldValues): AddCategoryFieldBody {
  const { key, label, type, required, sensitive } = values
  const isNumeric = type === 'number' || type === 'currency'
  return {
    ...{ key: key.trim(), label: label.trim(), type, required, sensitive },
    ...(type === 'select' ? { optionsJson: parseOptions(values.options) } : {}),
    ...(isNumeric ? { scale: values.scale === '' ? null : Number(values.scale), unit: textOrNull(values.unit) } : {}),
    ...(type === 'currency' ? { currencyFieldKey: textOrNull(values.currencyFieldKey) } : {}),
    defaultJson: defaultOf(type, values.defaultText),
    helpText: textOrNull(values.helpText),
  }
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim()
}

/** Returns the default value as the API takes it: dates with a time are instants, yes and no are booleans. */
function defaultOf(type: FieldType, text: string): unknown {
  if (text.trim() === '') return null
  if (type === 'boolean') return text === 'true'
  if (type === 'datetime' && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  return text.trim()
}

type Option = { value: string; label: string }

const separator = ' = '

/** Reads one option a line: `value = label`, or a label that is also the value. */
export function parseOptions(text: string): Option[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf(separator)
      if (at < 0) return { value: line, label: line }
      return { value: line.slice(0, at).trim(), label: line.slice(at + separator.length).trim() }
    })
}

export function formatOptions(options: readonly Option[]): string {
  return options.map(({ value, label }) => (value === label ? value : `${value}${separator}${label}`)).join('\n')
}

/** Returns the settings that the form changed. Unchanged settings are not sent, so that they stay exactly as they are. */
export function fieldChangeOf(before: FieldValues, after: FieldValues): UpdateCategoryFieldBody {
  const [old, { key: _, type: __, ...body }] = [fieldBodyOf(before), fieldBodyOf(after)]
  const isSame = (name: string) =>
    JSON.stringify(old[name as keyof typeof old]) === JSON.stringify(body[name as keyof typeof body])
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isSame(name)))
}

type Ordered = { id: string; orderIndex: number }

/**
 * Returns the fields whose position changes when a field moves up or down; none where it cannot move. Afterwards all
 * fields are numbered in order.
 */
export function movesOf(fields: readonly Ordered[], id: string, by: -1 | 1): Ordered[] {
  const from = fields.findIndex((field) => field.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= fields.length) return []
  const ids = fields.map((field) => field.id)
  ;[ids[from], ids[to]] = [ids[to]!, ids[from]!]
  const before = new Map(fields.map((field) => [field.id, field.orderIndex]))
  return ids
    .map((fieldId, orderIndex) => ({ id: fieldId, orderIndex }))
    .filter((field) => before.get(field.id) !== field.orderIndex)
}
