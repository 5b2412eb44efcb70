import type { FieldFault } from '../../../lib/errors.ts'
import { type CanonicalValue, canonicalValue } from '../categories/field-values.ts'
import type { CategoryFieldRow } from '../categories/queries.ts'

/** Field key to canonical string; a field without a value is absent. */
export type Values = Record<string, string>

type Field = Pick<
  CategoryFieldRow,
  'key' | 'type' | 'options_json' | 'scale' | 'required' | 'default_json' | 'archived'
>

/**
 * The values that an assignment will have. Given keys are set, and null clears a key; the others keep their values, or
 * start with the default of their field in a new assignment. A value that is sent back unchanged is no change, which is
 * all that an archived field accepts.
 *
 * @param current null: a new assignment
 */
export function planValues(
  fields: Field[],
  given: Record<string, unknown>,
  current: Values | null,
): { values: Values } | { faults: FieldFault[] } {
  // A Map, because a field named `constructor` must not find the property of an object.
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const faults = Object.keys(given)
    .filter((key) => !byKey.has(key))
    .map((key) => ({ field: `values.${key}`, message: 'is not a field of this category' }))
  const entries: [string, string][] = []
  for (const field of fields) {
    const present = current !== null && Object.hasOwn(current, field.key) ? current[field.key]! : null
    const value = Object.hasOwn(given, field.key) ? given[field.key] : undefined
    const outcome = planValue(field, value, present, current === null)
    if ('fault' in outcome) faults.push({ field: `values.${field.key}`, message: outcome.fault })
    else if (outcome.canonical !== null) entries.push([field.key, outcome.canonical])
  }
  return faults.length > 0 ? { faults } : { values: Object.fromEntries(entries) }
}

function planValue(field: Field, given: unknown, present: string | null, isNew: boolean): CanonicalValue {
  const outcome = nextValue(field, given, present, isNew)
  const isMissing = 'canonical' in outcome && outcome.canonical === null && field.required && !field.archived
  return isMissing ? { fault: 'is required' } : outcome
}

function nextValue(field: Field, given: unknown, present: string | null, isNew: boolean): CanonicalValue {
  if (given === present) return { canonical: present }
  if (given !== undefined) return field.archived ? { fault: 'is archived' } : canonicalValue(field, given)
  return isNew && !field.archived ? canonicalValue(field, field.default_json) : { canonical: present }
}
