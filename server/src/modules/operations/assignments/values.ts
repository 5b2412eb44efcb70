import type { FieldFault } from '../../../lib/errors.ts'
import { canonicalValue } from '../categories/field-values.ts'
import type { CategoryFieldRow } from '../categories/queries.ts'

/** Field key to canonical string; a field without a value is absent. */
export type Values = Record<string, string>

type Field = Pick<
  CategoryFieldRow,
  'key' | 'type' | 'options_json' | 'scale' | 'required' | 'default_json' | 'archived'
>

/**
 * The values that an assignment shall have. Given keys are set, and cleared by null; others keep what they have, or
 * begin with the default of their field when nothing is assigned yet. A value sent back as it is stored is no change,
 * which is all that an archived field takes.
 *
 * @param current null: nothing is assigned yet
 */
export function planValues(
  fields: Field[],
  given: Record<string, unknown>,
  current: Values | null,
): { values: Values } | { faults: FieldFault[] } {
  // A Map: a field may be called `constructor`, and nothing else may be found under that name.
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const faults = Object.keys(given)
    .filter((key) => !byKey.has(key))
    .map((key) => ({ field: `values.${key}`, message: 'is not a field of this category' }))
  const entries: [string, string][] = []
  for (const field of fields) {
    const present = current !== null && Object.hasOwn(current, field.key) ? current[field.key]! : null
    const outcome = planValue(field, Object.hasOwn(given, field.key) ? given[field.key] : undefined, {
      present,
      isNew: current === null,
    })
    if ('fault' in outcome) faults.push({ field: `values.${field.key}`, message: outcome.fault })
    else if (outcome.canonical !== null) entries.push([field.key, outcome.canonical])
  }
  return faults.length > 0 ? { faults } : { values: Object.fromEntries(entries) }
}

type Outcome = { canonical: string | null } | { fault: string }

function planValue(field: Field, given: unknown, { present, isNew }: { present: string | null; isNew: boolean }) {
  const outcome = nextValue(field, given, present, isNew)
  const isMissing = 'canonical' in outcome && outcome.canonical === null && field.required && !field.archived
  return isMissing ? { fault: 'is required' } : outcome
}

function nextValue(field: Field, given: unknown, present: string | null, isNew: boolean): Outcome {
  if (given === present) return { canonical: present }
  if (given !== undefined) return field.archived ? { fault: 'is archived' } : canonicalValue(field, given)
  return isNew && !field.archived ? canonicalValue(field, field.default_json) : { canonical: present }
}
