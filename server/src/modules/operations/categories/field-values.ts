import type { FieldFault } from '../../../lib/errors.ts'
import { fieldScaleMax, fieldTextLengthMax, uriLengthMax } from '../../../lib/limits.ts'
import { parseDay, parseTimestamp } from '../../../lib/period.ts'
import type { CategoryFieldRow } from './queries.ts'

export type FieldDefinition = Pick<CategoryFieldRow, 'type' | 'options_json' | 'scale'>

/** A `canonical` of null means that the field has no value. `fault` completes a sentence that begins with the name of the field. */
type CanonicalValue = { canonical: string | null } | { fault: string }

export const currencyScaleDefault = 2
const numberDigitsMax = 15

/**
 * Returns the canonical string of a value of a field (contract 13.3). Equal values have equal strings: numbers are padded to
 * the scale of the field, days are YYYY-MM-DD, instants are in UTC with milliseconds, booleans are `true` or `false`. Null and
 * a text of only white space mean that the field has no value. The caller checks whether a value is required.
 */
export function canonicalValue(field: FieldDefinition, value: unknown): CanonicalValue {
  if (value === null || value === undefined) return { canonical: null }
  if (field.type === 'boolean') {
    return typeof value === 'boolean' ? { canonical: String(value) } : { fault: 'must be true or false' }
  }
  if (field.type === 'number' && isExactNumber(value)) return canonicalNumber(String(value), field.scale)
  if (typeof value !== 'string') return { fault: faultOfOtherThanText(field) }
  if (value.includes('\0')) return { fault: 'must not hold a NUL character' }
  switch (field.type) {
    case 'text':
      return canonicalText(value)
    case 'number':
      return canonicalNumber(value, field.scale)
    case 'currency':
      return canonicalNumber(value, field.scale ?? currencyScaleDefault)
    case 'select':
      return canonicalOption(value, field)
    case 'date':
      return parseDay(value) === null ? { fault: 'must be a day of the calendar as YYYY-MM-DD' } : { canonical: value }
    case 'datetime':
      return canonicalInstant(value)
    case 'url':
      return canonicalUrl(value)
  }
}

/** Returns true if a double keeps all digits of a JSON number, which holds up to 15 digits. */
function isExactNumber(value: unknown): value is number {
  return typeof value === 'number' && String(value).replace(/^-?[0.]*|\./g, '').length <= numberDigitsMax
}

function faultOfOtherThanText({ type }: FieldDefinition): string {
  if (type === 'number') {
    return `must be a decimal number in a string, or a JSON number of at most ${numberDigitsMax} significant digits`
  }
  // Money is never a JSON number, which many programs hold as a double.
  return type === 'currency' ? 'must be a decimal number in a string' : 'must be a string'
}

function canonicalText(text: string): CanonicalValue {
  if (text.trim() === '') return { canonical: null }
  // Characters, not UTF-16 units: JSON Schema counts the same way.
  const isLong = text.length > fieldTextLengthMax && [...text].length > fieldTextLengthMax
  return isLong ? { fault: `must not be longer than ${fieldTextLengthMax} characters` } : { canonical: text }
}

const numberForm = /^(-?)(0|[1-9][0-9]{0,37})(?:\.([0-9]{1,36}))?$/

/** @param scale the fraction digits to which the value is padded; null means no padding */
function canonicalNumber(text: string, scale: number | null): CanonicalValue {
  const match = numberForm.exec(text)
  if (match === null) return { fault: 'must be a plain decimal number of at most 38 digits before the point' }
  const [, sign = '', whole = '', fraction = ''] = match
  const significant = fraction.replace(/0+$/, '')
  const digitsMax = scale ?? fieldScaleMax
  if (significant.length > digitsMax) return { fault: `must not have more than ${digitsMax} fraction digits` }
  const digits = significant.padEnd(scale ?? 0, '0')
  // Zero has one string, so -0 becomes 0.
  const isZero = whole === '0' && significant === ''
  return { canonical: `${isZero ? '' : sign}${whole}${digits === '' ? '' : `.${digits}`}` }
}

function canonicalOption(value: string, { options_json: options }: FieldDefinition): CanonicalValue {
  const isOffered = options?.some((option) => option.value === value) === true
  return isOffered ? { canonical: value } : { fault: 'must be the value of one of the options' }
}

function canonicalInstant(text: string): CanonicalValue {
  const year = parseTimestamp(text)?.getUTCFullYear()
  // A year beyond four digits has another format, which no longer sorts as text.
  if (year === undefined || year < 0 || year > 9999) {
    return { fault: 'must be an ISO 8601 timestamp with an offset, such as 2026-01-31T09:30:00Z' }
  }
  return { canonical: parseTimestamp(text)!.toISOString() }
}

function canonicalUrl(text: string): CanonicalValue {
  if (text.length > uriLengthMax) return { fault: `must not be longer than ${uriLengthMax} characters` }
  // The parser drops line breaks and outer spaces, so a URL that contains them would differ from the one that is opened.
  const isUrl = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text)
  return isUrl ? { canonical: text } : { fault: 'must be an http or https URL' }
}

/** Canonical strings by field key. A field without a value is absent. */
export type Values = Record<string, string>

type Field = Pick<
  CategoryFieldRow,
  'key' | 'type' | 'options_json' | 'scale' | 'required' | 'default_json' | 'archived'
>

/**
 * Returns the values that an assignment will have. The sent keys are set, and null clears a key. Other keys keep their values
 * or, in a new assignment, start with the default of their field. An archived field accepts only its unchanged value.
 *
 * @param current null for a new assignment
 */
export function planValues(
  fields: Field[],
  sent: Record<string, unknown>,
  current: Values | null,
): { values: Values } | { faults: FieldFault[] } {
  // A Map, because a field named `constructor` must not find the property of an object.
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const faults = Object.keys(sent)
    .filter((key) => !byKey.has(key))
    .map((key) => ({ field: `values.${key}`, message: 'is not a field of this category' }))
  const entries: [string, string][] = []
  for (const field of fields) {
    const present = current !== null && Object.hasOwn(current, field.key) ? current[field.key]! : null
    const value = Object.hasOwn(sent, field.key) ? sent[field.key] : undefined
    const outcome = planValue(field, value, present, current === null)
    if ('fault' in outcome) faults.push({ field: `values.${field.key}`, message: outcome.fault })
    else if (outcome.canonical !== null) entries.push([field.key, outcome.canonical])
  }
  return faults.length > 0 ? { faults } : { values: Object.fromEntries(entries) }
}

function planValue(field: Field, sent: unknown, present: string | null, isNew: boolean): CanonicalValue {
  const outcome = nextValue(field, sent, present, isNew)
  const isMissing = 'canonical' in outcome && outcome.canonical === null && field.required && !field.archived
  return isMissing ? { fault: 'is required' } : outcome
}

function nextValue(field: Field, sent: unknown, present: string | null, isNew: boolean): CanonicalValue {
  if (sent === present) return { canonical: present }
  if (sent !== undefined) return field.archived ? { fault: 'is archived' } : canonicalValue(field, sent)
  return isNew && !field.archived ? canonicalValue(field, field.default_json) : { canonical: present }
}
