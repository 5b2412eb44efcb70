import type { AddCategoryFieldBody, CategoryField, UpdateCategoryFieldBody } from '@strongroom/sdk'

export type FieldType = CategoryField['type']

/** What the form of a field holds: text as it is typed. */
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

/** What the API is sent. Settings that the form does not offer for the type are left out. */
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

/** Dates with a time are instants; yes and no are no strings. */
function defaultOf(type: FieldType, text: string): unknown {
  if (text.trim() === '') return null
  if (type === 'boolean') return text === 'true'
  if (type === 'datetime' && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  return text.trim()
}

type Option = { value: string; label: string }

const separator = ' = '

/** One option a line: `value = label`, or the label alone, which then is the value, too. */
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

/** The settings that the form changed. What was not touched is not sent, so that it stays exactly as it is. */
export function fieldChangeOf(before: FieldValues, after: FieldValues): UpdateCategoryFieldBody {
  const [old, { key: _, type: __, ...body }] = [fieldBodyOf(before), fieldBodyOf(after)]
  const isSame = (name: string) =>
    JSON.stringify(old[name as keyof typeof old]) === JSON.stringify(body[name as keyof typeof body])
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isSame(name)))
}

type Ordered = { id: string; orderIndex: number }

/** The fields whose place changes when one moves up or down; none where it cannot. Afterwards all are numbered in their order. */
export function movesOf(fields: readonly Ordered[], id: string, by: -1 | 1): Ordered[] {
  const from = fields.findIndex((field) => field.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= fields.length) return []
  const ids = fields.map((field) => field.id)
  ;[ids[from], ids[to]] = [ids[to]!, ids[from]!]
  const before = new Map(fields.map((field) => [field.id, field.orderIndex]))
  return ids
    .map((each, orderIndex) => ({ id: each, orderIndex }))
    .filter((each) => before.get(each.id) !== each.orderIndex)
}
