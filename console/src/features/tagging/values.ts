import type { CategoryField } from '@strongroom/sdk'
import { formatAmount, parseAmount } from '../../lib/amounts.ts'

/** What the inputs hold: texts, "true" and "false" for a boolean. */
export type FormValues = Record<string, string>

/** The fields of a category that are filled in, in their order. */
export function fieldsOf(fields: readonly CategoryField[]): CategoryField[] {
  return fields
    .filter(({ archived }) => !archived)
    .toSorted((a, b) => a.orderIndex - b.orderIndex || a.createdAt.localeCompare(b.createdAt))
}

/** What a form begins with: the values of the assignment, or the defaults of the fields. */
export function formValuesOf(
  fields: readonly CategoryField[],
  assigned: Readonly<Record<string, string | null>> | null,
): FormValues {
  return Object.fromEntries(
    fields.map((field) => {
      const value = assigned === null ? defaultOf(field) : (assigned[field.key] ?? '')
      return [field.key, shown(field, value)]
    }),
  )
}

function defaultOf({ defaultJson }: CategoryField): string {
  return defaultJson === null || defaultJson === undefined ? '' : String(defaultJson)
}

function shown({ type }: CategoryField, value: string): string {
  if (value === '') return ''
  if (type === 'number' || type === 'currency') return isDecimal(value) ? formatAmount(value) : value
  return type === 'datetime' ? localInput(value) : value
}

const isDecimal = (text: string) => /^-?\d+(\.\d+)?$/.test(text)

/** An instant as the input of the reader's zone takes it. */
function localInput(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export type Reading = { values: Record<string, unknown>; faults: string[] }

/** The values as the API takes them; `faults` are the keys of fields whose text is no number or date. */
export function readForm(fields: readonly CategoryField[], form: FormValues): Reading {
  const values: Record<string, unknown> = {}
  const faults: string[] = []
  for (const field of fields) {
    const value = readField(field, (form[field.key] ?? '').trim())
    if (value === undefined) faults.push(field.key)
    else values[field.key] = value
  }
  return { values, faults }
}

/** undefined: the text does not fit the type. An empty text clears. */
function readField({ type, scale }: CategoryField, text: string): string | boolean | null | undefined {
  if (text === '') return null
  if (type === 'boolean') return text === 'true'
  if (type === 'number') return readDecimal(text, scale ?? 18)
  if (type === 'currency') return readDecimal(text, scale ?? 2)
  if (type !== 'datetime') return text
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

function readDecimal(text: string, decimals: number): string | undefined {
  const isNegative = /^[-−]/.test(text)
  const digits = parseAmount(text.replace(/^[-−]/, ''), decimals)
  if (digits === null) return undefined
  return isNegative ? `-${digits}` : digits
}
