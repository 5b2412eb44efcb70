import type { Static } from 'typebox'
import type { ByMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { AppError, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { fieldsPerCategoryMax } from '../../../lib/limits.ts'
import { changedFields } from '../../record/audit/changed-fields.ts'
import { assertNone, finishChange, lockLiveDefinition } from './definition.ts'
import {
  changedDraft,
  draftOf,
  draftOfRow,
  type FieldChange,
  type FieldDraft,
  findFieldFaults,
  findLinkFault,
} from './field-draft.ts'
import { type CategoryFieldRow, type CategoryRow, hasValues } from './queries.ts'
import type { FieldCreation } from './schema.ts'

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
    throw conflict(`The category has a field with the key ${body.key} already`)
  }
  if (category.fields.length >= fieldsPerCategoryMax) {
    throw conflict(`A category has at most ${fieldsPerCategoryMax} fields`)
  }
  const draft = draftOf(body)
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
 * Changes everything of a field but its key and type.
 * @throws as `addField`; 403 for a caller who is not an administrator and would reveal sensitive values, 409 for another
 *   scale when there are values, and for archiving a field that holds the currency of another
 */
export async function updateField(
  trx: Trx,
  { id, fieldId }: { id: string; fieldId: string },
  body: FieldChange,
  by: ByMember,
): Promise<CategoryFieldRow> {
  const category = await lockLiveDefinition(trx, id, by)
  const field = fieldOf(category, fieldId)
  if (field.sensitive && body.sensitive === false && !by.member.isAdmin) {
    throw forbidden('Only administrators of the vault may turn off sensitive')
  }
  const others = category.fields.filter((other) => other !== field)
  const before = draftOfRow(field)
  const after = changedDraft(field, body)
  assertSound(after, others)
  if (after.archived && !field.archived)
    assertNoCurrencyOf(
      field,
      others.filter((other) => !other.archived),
    )
  if (after.scale !== field.scale && (await hasValues(trx, field))) {
    throw conflict('The scale cannot be changed because the field has recorded values')
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
  if (await hasValues(trx, field)) throw conflict('The field has recorded values; archive it instead')
  await trx.deleteFrom('category_fields').where('vault_id', '=', category.vault_id).where('id', '=', fieldId).execute()
  await finishChange(trx, category, by, 'field_deleted', { fieldId, before: draftOfRow(field) })
}

function assertSound(draft: FieldDraft, others: CategoryFieldRow[]): void {
  assertNone(findFieldFaults(draft))
  const message = findLinkFault(draft, others)
  if (message === null) return
  throw new AppError(400, `currencyFieldKey: ${message}`, {
    code: 'CATEGORY_FIELD_LINK',
    details: [{ field: 'currencyFieldKey', message }],
  })
}

function assertNoCurrencyOf({ key }: CategoryFieldRow, fields: CategoryFieldRow[]): void {
  const amount = fields.find(({ currency_field_key }) => currency_field_key === key)
  if (amount !== undefined) throw conflict(`The field holds the currency of ${amount.key}`)
}

function fieldOf(category: CategoryRow, fieldId: string): CategoryFieldRow {
  const field = category.fields.find(({ id }) => id === fieldId)
  if (field === undefined) throw notFound('Category field')
  return field
}

function columnsOfField(draft: FieldDraft) {
  return {
    label: draft.label,
    required: draft.required,
    options_json: draft.optionsJson === null ? null : JSON.stringify(draft.optionsJson),
    scale: draft.scale,
    currency_field_key: draft.currencyFieldKey,
    unit: draft.unit,
    // NULL means that there is no default; the JSON null would be a value.
    default_json: (draft.defaultJson ?? null) === null ? null : JSON.stringify(draft.defaultJson),
    help_text: draft.helpText,
    sensitive: draft.sensitive,
    order_index: draft.orderIndex,
    archived: draft.archived,
  }
}
