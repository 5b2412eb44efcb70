import type { CategoryField } from '@strongroom/sdk'
import { formatAmount, parseAmount } from '../../lib/amounts.ts'

/** The values of the inputs: texts; for a boolean "true" or "false". */
export type FormValues = Record<string, string>

/** Returns the fields of a category for input, in their order. */
export function fieldsOf(fields: readonly CategoryField[]): CategoryField[] {
  return fields
    .filter(({ archived }) => !archived)
    .toSorted((a, b) => a.orderIndex - b.orderIndex || a.createdAt.localeCompare(b.createdAt))
}

/** Returns the initial values of a form: those of the assignment, or the defaults of the fields. */
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

/** Returns an instant in the form of the input, in the reader's zone. */
function localInput(instant: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export type Reading = { values: Record<string, unknown>; faults: string[] }

/** Returns the values as the API takes them. `faults` are the keys of fields whose text is not a number or a date. */
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

/** Returns undefined if the text does not fit the type. An empty text clears the value. */
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
