import type { Static } from 'typebox'
import type { ByMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { AppError, conflict, type FieldFault, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { fieldsPerCategoryMax } from '../../../lib/limits.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { changedFields } from '../../record/audit/record.ts'
import { assertNone, finishChange, lockLiveDefinition } from './definition.ts'
import { canonicalValue, currencyScaleDefault } from './field-values.ts'
import { draftOfRow, type FieldDraft } from './present.ts'
import { type CategoryFieldRow, type CategoryRow, hasValues } from './queries.ts'
import type { FieldCreation, FieldUpdate } from './schema.ts'

/**
 * @throws 400 for an invalid field, with code CATEGORY_FIELD_LINK for the field that it names as its currency, 403,
 *   404, 409 for a key that the category has, too many fields or an archived category
 */
export async function addField(
  trx: Trx,
  id: string,
  body: Static<typeof FieldCreation>,
  by: ByMember,
): Promise<CategoryFieldRow> {
  const category = await lockLiveDefinition(trx, id, by)
  if (category.fields.some(({ key }) => key === body.key)) {
    throw conflict('already_exists', `The category already has a field with the key ${body.key}`)
  }
  if (category.fields.length >= fieldsPerCategoryMax) {
    throw conflict('limit_reached', `A category has at most ${fieldsPerCategoryMax} fields`)
  }
  const draft = withScale({ ...defaults, ...body })
  assertSound(draft, category.fields)
  const fieldId = newId(by.now)
  await trx
    .insertInto('category_fields')
    .values({
      vault_id: category.vault_id,
      id: fieldId,
      category_id: id,
      key: draft.key,
      type: draft.type,
      ...columnsOfField(draft),
      created_at: by.now,
      updated_at: by.now,
    })
    .execute()
  const changed = await finishChange(trx, category, by, 'field_added', { fieldId, after: draft })
  return fieldOf(changed, fieldId)
}

/**
 * Changes any property of a field except its key and type.
 * @throws as `addField`; 403 for a caller who is not an administrator and would reveal sensitive values, 409 for
 *   another scale when there are values, and for archiving a field that holds the currency of another
 */
export async function updateField(
  trx: Trx,
  { id, fieldId }: { id: string; fieldId: string },
  body: Static<typeof FieldUpdate>,
  by: ByMember,
): Promise<CategoryFieldRow> {
  const category = await lockLiveDefinition(trx, id, by)
  const field = fieldOf(category, fieldId)
  if (field.sensitive && body.sensitive === false && !by.member.isAdmin) {
    throw forbidden('administrator_required', 'Only administrators of the vault may turn off sensitive')
  }
  const others = category.fields.filter((other) => other !== field)
  const before = draftOfRow(field)
  const after = withScale({ ...before, ...body })
  assertSound(after, others)
  if (after.archived && !field.archived)
    assertNoCurrencyOf(
      field,
      others.filter((other) => !other.archived),
    )
  if (after.scale !== field.scale && (await hasValues(trx, field))) {
    throw conflict('in_use', 'The scale cannot be changed because the field has recorded values')
  }
  await trx
    .updateTable('category_fields')
    .set({ ...columnsOfField(after), updated_at: by.now })
    .where('vault_id', '=', category.vault_id)
    .where('id', '=', fieldId)
    .execute()
  const details = { fieldId, key: field.key, changes: changedFields(before, after) }
  return fieldOf(await finishChange(trx, category, by, 'field_updated', details), fieldId)
}

/** @throws 403, 404, 409 once it has values, while it holds the currency of another field, or in an archived category */
export async function deleteField(
  trx: Trx,
  { id, fieldId }: { id: string; fieldId: string },
  by: ByMember,
): Promise<void> {
  const category = await lockLiveDefinition(trx, id, by)
  const field = fieldOf(category, fieldId)
  assertNoCurrencyOf(field, category.fields)
  if (await hasValues(trx, field)) throw conflict('in_use', 'The field has recorded values; archive it instead')
  await trx.deleteFrom('category_fields').where('vault_id', '=', category.vault_id).where('id', '=', fieldId).execute()
  await finishChange(trx, category, by, 'field_deleted', { fieldId, before: draftOfRow(field) })
}

function assertSound(draft: FieldDraft, others: CategoryFieldRow[]): void {
  assertNone(findFieldFaults(draft))
  const message = findLinkFault(draft, others)
  if (message === null) return
  throw new AppError('category_field_link', `currencyFieldKey: ${message}`, {
    code: 'CATEGORY_FIELD_LINK',
    details: [{ field: 'currencyFieldKey', message }],
  })
}

function assertNoCurrencyOf({ key }: CategoryFieldRow, fields: CategoryFieldRow[]): void {
  const amount = fields.find(({ currency_field_key }) => currency_field_key === key)
  if (amount !== undefined) throw conflict('in_use', `The field holds the currency of ${amount.key}`)
}

function fieldOf(category: CategoryRow, fieldId: string): CategoryFieldRow {
  return orNotFound(
    category.fields.find(({ id }) => id === fieldId),
    'Category field',
  )
}

function columnsOfField(draft: FieldDraft) {
  return {
    label: draft.label,
    required: draft.required,
    options_json: draft.optionsJson === null ? null : JSON.stringify(draft.optionsJson),
    scale: draft.scale,
    currency_field_key: draft.currencyFieldKey,
    unit: draft.unit,
    // SQL NULL means that there is no default. The JSON null would be a value.
    default_json: (draft.defaultJson ?? null) === null ? null : JSON.stringify(draft.defaultJson),
    help_text: draft.helpText,
    sensitive: draft.sensitive,
    order_index: draft.orderIndex,
    archived: draft.archived,
  }
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

/** Gives a currency its scale. A currency always has a scale, so that equal amounts are equal strings. */
function withScale(draft: FieldDraft): FieldDraft {
  return draft.type === 'currency' ? { ...draft, scale: draft.scale ?? currencyScaleDefault } : draft
}

/** Returns the errors of a field that its schema cannot express, except for the error of its link to another field. */
function findFieldFaults(draft: FieldDraft): FieldFault[] {
  const { type, optionsJson, scale } = draft
  const isNumeric = type === 'number' || type === 'currency'
  const faults: FieldFault[] = []
  if (type === 'select' && optionsJson === null) faults.push({ field: 'optionsJson', message: 'is required' })
  if (type !== 'select' && optionsJson !== null) faults.push({ field: 'optionsJson', message: 'belongs to a select' })
  if (!isNumeric && scale !== null) faults.push({ field: 'scale', message: 'belongs to a number or currency' })
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
 * Returns the error of the field that a currency names as the holder of its currency, or null. An archived field may
 * keep a link that is no longer valid; the link is checked again when the field is restored.
 *
 * @param fields the other fields of the category
 */
function findLinkFault(draft: FieldDraft, fields: CategoryFieldRow[]): string | null {
  const { type, currencyFieldKey, archived } = draft
  if (currencyFieldKey === null || archived) return null
  if (type !== 'currency') return 'belongs to a currency'
  const linked = fields.find(({ key }) => key === currencyFieldKey)
  if (linked === undefined) return 'names no field of the category'
  if (linked.archived) return 'names a field that is archived'
  return linked.type === 'select' || linked.type === 'text' ? null : 'names a field that is neither a select nor a text'
}
