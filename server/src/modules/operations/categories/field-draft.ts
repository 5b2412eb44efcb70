import type { Static } from 'typebox'
import type { FieldFault } from '../../../lib/errors.ts'
import { canonicalValue, currencyScaleDefault } from './field-values.ts'
import type { CategoryFieldRow } from './queries.ts'
import type { FieldCreation, FieldUpdate } from './schema.ts'

type Creation = Static<typeof FieldCreation>
export type FieldChange = Static<typeof FieldUpdate>

/** The complete definition of a field after a creation or a change. */
export type FieldDraft = Required<Creation> & { archived: boolean }

export function draftOf(creation: Creation): FieldDraft {
  return withScale({ ...defaults, ...creation })
}

const defaults = {
  required: false,
  optionsJson: null,
  scale: null,
  currencyFieldKey: null,
  unit: null,
  defaultJson: null,
  helpText: null,
  sensitive: false,
  orderIndex: 0,
  archived: false,
}

export function changedDraft(row: CategoryFieldRow, change: FieldChange): FieldDraft {
  return withScale({ ...draftOfRow(row), ...change })
}

export function draftOfRow(row: CategoryFieldRow): FieldDraft {
  return {
    key: row.key,
    label: row.label,
    type: row.type,
    required: row.required,
    optionsJson: row.options_json,
    scale: row.scale,
    currencyFieldKey: row.currency_field_key,
    unit: row.unit,
    defaultJson: row.default_json,
    helpText: row.help_text,
    sensitive: row.sensitive,
    orderIndex: row.order_index,
    archived: row.archived,
  }
}

/** A currency always has a scale, so that equal amounts are equal strings. */
function withScale(draft: FieldDraft): FieldDraft {
  return draft.type === 'currency' ? { ...draft, scale: draft.scale ?? currencyScaleDefault } : draft
}

/** The errors of a field that its schema cannot express, except for its link to another field. */
export function findFieldFaults(draft: FieldDraft): FieldFault[] {
  const { type, optionsJson, scale, unit } = draft
  const isNumeric = type === 'number' || type === 'currency'
  const faults: FieldFault[] = []
  if (type === 'select' && optionsJson === null) faults.push({ field: 'optionsJson', message: 'is required' })
  if (type !== 'select' && optionsJson !== null) faults.push({ field: 'optionsJson', message: 'belongs to a select' })
  if (!isNumeric && scale !== null) faults.push({ field: 'scale', message: 'belongs to a number or currency' })
  if (!isNumeric && unit !== null) faults.push({ field: 'unit', message: 'belongs to a number or currency' })
  faults.push(...findRepeatedOptions(optionsJson ?? []))
  const value = canonicalValue({ type, options_json: optionsJson, scale }, draft.defaultJson)
  if ('fault' in value) faults.push({ field: 'defaultJson', message: value.fault })
  return faults
}

function findRepeatedOptions(options: { value: string }[]): FieldFault[] {
  const firstAt = new Map<string, number>()
  return options.flatMap(({ value }, i) => {
    const first = firstAt.get(value)
    if (first === undefined) firstAt.set(value, i)
    return first === undefined
      ? []
      : [{ field: `optionsJson.${i}.value`, message: `is the same as optionsJson.${first}.value` }]
  })
}

/**
 * The error of the field that a currency names as holding its currency, or null. An archived field may keep a link that
 * is no longer valid; the link is checked again when the field is restored.
 *
 * @param fields the other fields of the category
 */
export function findLinkFault(draft: FieldDraft, fields: CategoryFieldRow[]): string | null {
  const { type, currencyFieldKey, archived } = draft
  if (currencyFieldKey === null || archived) return null
  if (type !== 'currency') return 'belongs to a currency'
  const linked = fields.find(({ key }) => key === currencyFieldKey)
  if (linked === undefined) return 'names no field of the category'
  if (linked.archived) return 'names a field that is archived'
  return linked.type === 'select' || linked.type === 'text' ? null : 'names a field that is neither a select nor a text'
}
