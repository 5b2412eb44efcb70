import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { violates } from '../../../db/transaction.ts'
import { AppError, badRequest, conflict, type FieldFault, faulty, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { fieldsPerCategoryMax } from '../../../lib/limits.ts'
import { changedFields } from '../../record/audit/changed-fields.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import {
  changedDraft,
  draftOf,
  draftOfRow,
  type FieldChange,
  type FieldDraft,
  findFieldFaults,
  findLinkFault,
} from './field-draft.ts'
import { type CategoryFieldRow, type CategoryRow, findCategory, hasValues, lockCategory } from './queries.ts'
import { mayEditDefinition } from './rights.ts'
import type { CategoryApprovers, CategoryCreation, CategoryGrants, CategoryUpdate, FieldCreation } from './schema.ts'
import { findForeignSubjects, findSubjectFaults, idOfSubject } from './subjects.ts'

type Update = Static<typeof CategoryUpdate>
export type Editor = { member: Member; now: Date }

/** @throws 400 for an approval without a threshold, 409 when the vault has a category of that key */
export async function createCategory(
  trx: Trx,
  body: Static<typeof CategoryCreation>,
  editor: Editor,
): Promise<CategoryRow> {
  const { member, now } = editor
  const draft = { ...defaults, ...body }
  assertThreshold(draft)
  const id = newId(now)
  await trx
    .insertInto('operation_categories')
    .values({
      vault_id: member.vault.id,
      id,
      key: draft.key,
      ...columnsOf(draft),
      created_by_id: member.userId,
      updated_by_id: member.userId,
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch((error: unknown) => {
      throw violates(error, 'operation_categories_key')
        ? conflict(`The vault has a category with the key ${body.key} already`)
        : error
    })
  await record(trx, editor, 'created', id, { after: draft })
  return (await findCategory(trx, member.vault.id, id))!
}

const defaults = {
  description: null,
  emoji: null,
  color: null,
  appliesTo: 'both',
  viewScope: 'vault_members',
  assignScope: 'owner_only',
  editScope: 'owner_only',
  approvalScope: 'none',
  approvalThreshold: 0,
  allowInitiatorApproval: false,
  archived: false,
} as const

/**
 * Changes what `body` names. Of an archived category the one change is that it comes back.
 * @throws 400 for an approval without a threshold, 403 for who may not edit it or names what administrators decide,
 *   404, 409 while it is archived and for a system category that would be
 */
export async function updateCategory(trx: Trx, id: string, body: Update, editor: Editor): Promise<CategoryRow> {
  const category = await lockForEditor(trx, id, editor)
  const reserved = administratorsDecide.find((name) => body[name] !== undefined)
  if (reserved !== undefined && !editor.member.isAdmin) {
    throw forbidden(`Only administrators of the vault may change ${reserved}`)
  }
  if (body.archived !== false) assertLive(category)
  if (category.is_system && body.archived === true) throw conflict('A system category cannot be archived')
  const before = settingsOf(category)
  const after = { ...before, ...body }
  assertThreshold(after)
  await trx
    .updateTable('operation_categories')
    .set(columnsOf(after))
    .where('vault_id', '=', category.vault_id)
    .where('id', '=', id)
    .execute()
  return finish(trx, category, editor, 'updated', { changes: changedFields(before, after) })
}

/** Who may edit a definition must not be able to let themselves, or anyone, see, assign or approve more by it. */
const administratorsDecide = [
  'viewScope',
  'assignScope',
  'editScope',
  'approvalScope',
  'approvalThreshold',
  'allowInitiatorApproval',
] as const

/**
 * @throws 400 for a field that cannot be, with code CATEGORY_FIELD_LINK for the one that it names as its currency, 403,
 *   404, 409 for a key that the category has, too many fields or an archived category
 */
export async function addField(
  trx: Trx,
  id: string,
  body: Static<typeof FieldCreation>,
  editor: Editor,
): Promise<CategoryFieldRow> {
  const category = await lockLive(trx, id, editor)
  if (category.fields.some(({ key }) => key === body.key)) {
    throw conflict(`The category has a field with the key ${body.key} already`)
  }
  if (category.fields.length >= fieldsPerCategoryMax) {
    throw conflict(`A category has at most ${fieldsPerCategoryMax} fields`)
  }
  const draft = draftOf(body)
  assertSound(draft, category.fields)
  const fieldId = newId(editor.now)
  await trx
    .insertInto('category_fields')
    .values({
      vault_id: category.vault_id,
      id: fieldId,
      category_id: id,
      key: draft.key,
      type: draft.type,
      ...columnsOfField(draft),
      created_at: editor.now,
      updated_at: editor.now,
    })
    .execute()
  const changed = await finish(trx, category, editor, 'field_added', { fieldId, after: draft })
  return fieldOf(changed, fieldId)
}

/**
 * Changes everything of a field but its key and type.
 * @throws as `addField`; 403 for who does not administer the vault and would uncover sensitive values, 409 for another
 *   scale once there are values, and for archiving a field that holds the currency of another
 */
export async function updateField(
  trx: Trx,
  { id, fieldId }: { id: string; fieldId: string },
  body: FieldChange,
  editor: Editor,
): Promise<CategoryFieldRow> {
  const category = await lockLive(trx, id, editor)
  const field = fieldOf(category, fieldId)
  if (field.sensitive && body.sensitive === false && !editor.member.isAdmin) {
    throw forbidden('Only administrators of the vault may uncover sensitive values')
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
    throw conflict('The field has recorded values, which are written with its scale')
  }
  await trx
    .updateTable('category_fields')
    .set({ ...columnsOfField(after), updated_at: editor.now })
    .where('vault_id', '=', category.vault_id)
    .where('id', '=', fieldId)
    .execute()
  const details = { fieldId, key: field.key, changes: changedFields(before, after) }
  return fieldOf(await finish(trx, category, editor, 'field_updated', details), fieldId)
}

/** @throws 403, 404, 409 once it has values, while it holds the currency of another field, or in an archived category */
export async function deleteField(
  trx: Trx,
  { id, fieldId }: { id: string; fieldId: string },
  editor: Editor,
): Promise<void> {
  const category = await lockLive(trx, id, editor)
  const field = fieldOf(category, fieldId)
  assertNoCurrencyOf(field, category.fields)
  if (await hasValues(trx, field)) throw conflict('The field has recorded values; archive it instead')
  await trx.deleteFrom('category_fields').where('vault_id', '=', category.vault_id).where('id', '=', fieldId).execute()
  await finish(trx, category, editor, 'field_deleted', { fieldId, before: draftOfRow(field) })
}

/**
 * Replaces the grants by this list; for administrators. A subject that stays keeps its grant, with new rights if they differ.
 * @throws 400 for a subject that is not of the vault, comes twice or is granted nothing, 404, 409 while it is archived
 */
export async function replaceGrants(
  trx: Trx,
  id: string,
  { grants }: Static<typeof CategoryGrants>,
  editor: Editor,
): Promise<CategoryRow> {
  const category = await lockLive(trx, id, editor)
  const wanted = grants.map(({ subjectType, subjectUserId, subjectGroupId, ...rights }) => ({
    kind: subjectType,
    userId: subjectUserId ?? null,
    groupId: subjectGroupId ?? null,
    rights: { ...noRights, ...rights },
  }))
  const idle = wanted.flatMap(({ rights }, i): FieldFault[] =>
    Object.values(rights).includes(true) ? [] : [{ field: `grants.${i}`, message: 'grants nothing' }],
  )
  assertNone([...findSubjectFaults(wanted, grantNames), ...idle])
  assertNone(await findForeignSubjects(trx, category.vault_id, wanted, grantNames))
  const rows = wanted.map((grant) => ({
    subject_type: grant.kind,
    subject_id: idOfSubject(grant),
    can_view: grant.rights.canView,
    can_assign: grant.rights.canAssign,
    can_edit: grant.rights.canEdit,
  }))
  const subjects = rows.map((row) => `${row.subject_type}:${row.subject_id}`)
  await trx
    .deleteFrom('category_grants')
    .where('vault_id', '=', category.vault_id)
    .where('category_id', '=', id)
    .where(sql<boolean>`subject <> all(${subjects}::text[])`)
    .execute()
  if (rows.length > 0) {
    const ids = sortedIds(rows.length, editor.now)
    await trx
      .insertInto('category_grants')
      .values(
        rows.map((row, i) => ({
          vault_id: category.vault_id,
          id: ids[i]!,
          category_id: id,
          ...row,
          grantor_id: editor.member.userId,
          created_at: editor.now,
        })),
      )
      .onConflict((same) =>
        same
          .constraint('category_grants_once')
          .doUpdateSet((value) => ({
            can_view: value.ref('excluded.can_view'),
            can_assign: value.ref('excluded.can_assign'),
            can_edit: value.ref('excluded.can_edit'),
            grantor_id: value.ref('excluded.grantor_id'),
          }))
          // Who granted what did not change stays on record.
          .where(
            sql<boolean>`(category_grants.can_view, category_grants.can_assign, category_grants.can_edit)
              is distinct from (excluded.can_view, excluded.can_assign, excluded.can_edit)`,
          ),
      )
      .execute()
  }
  const before = category.grants.map(({ subject, can_view, can_assign, can_edit }) => ({
    subject,
    canView: can_view,
    canAssign: can_assign,
    canEdit: can_edit,
  }))
  const after = wanted.map(({ rights }, i) => ({ subject: subjects[i], ...rights }))
  return finish(trx, category, editor, 'grants_replaced', { before, after })
}

const noRights = { canView: true, canAssign: false, canEdit: false }
const grantNames = { list: 'grants', userId: 'subjectUserId', groupId: 'subjectGroupId' }

/**
 * Replaces the approvers by this list; for administrators. Who stays keeps their entry.
 * @throws 400 for one that is not of the vault or comes twice, 404, 409 while it is archived
 */
export async function replaceApprovers(
  trx: Trx,
  id: string,
  { approvers }: Static<typeof CategoryApprovers>,
  editor: Editor,
): Promise<CategoryRow> {
  const category = await lockLive(trx, id, editor)
  assertNone(findSubjectFaults(approvers, approverNames))
  assertNone(await findForeignSubjects(trx, category.vault_id, approvers, approverNames))
  const wanted = new Set(approvers.map((approver) => `${approver.kind}:${idOfSubject(approver)}`))
  const present = new Map(category.approvers.map((row) => [`${row.kind}:${row.user_id ?? row.group_id}`, row.id]))
  const gone = [...present].filter(([subject]) => !wanted.has(subject)).map(([, rowId]) => rowId)
  await trx
    .deleteFrom('category_approvers')
    .where('vault_id', '=', category.vault_id)
    .where(sql<boolean>`id = any(${gone}::text[])`)
    .execute()
  const added = approvers.filter((approver) => !present.has(`${approver.kind}:${idOfSubject(approver)}`))
  if (added.length > 0) {
    const ids = sortedIds(added.length, editor.now)
    await trx
      .insertInto('category_approvers')
      .values(
        added.map(({ kind, userId, groupId }, i) => ({
          vault_id: category.vault_id,
          id: ids[i]!,
          category_id: id,
          kind,
          user_id: userId ?? null,
          group_id: groupId ?? null,
          created_at: editor.now,
        })),
      )
      .execute()
  }
  return finish(trx, category, editor, 'approvers_replaced', { before: [...present.keys()], after: [...wanted] })
}

const approverNames = { list: 'approvers', userId: 'userId', groupId: 'groupId' }

/** Sorted ids keep what is added together in the order in which it was named. */
function sortedIds(count: number, now: Date): string[] {
  return Array.from({ length: count }, () => newId(now)).sort()
}

/** Locks the category; everything that follows is about it as it is now. @throws 403, 404 */
async function lockForEditor(trx: Trx, id: string, { member }: Editor): Promise<CategoryRow> {
  const category = await lockCategory(trx, member.vault.id, id, 'update')
  if (category === null) throw notFound('Operation category')
  if (!mayEditDefinition(category, member)) {
    throw forbidden('Only administrators and those who are granted canEdit may change the category')
  }
  return category
}

async function lockLive(trx: Trx, id: string, editor: Editor): Promise<CategoryRow> {
  const category = await lockForEditor(trx, id, editor)
  assertLive(category)
  return category
}

function assertLive({ archived }: CategoryRow): void {
  if (archived) throw conflict('The category is archived')
}

function assertThreshold(draft: { approvalScope: string; approvalThreshold: number }): void {
  if (draft.approvalScope !== 'none' && draft.approvalThreshold < 1) {
    throw badRequest('approvalThreshold', 'must be at least 1 unless approvalScope is none')
  }
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

function assertNone(faults: FieldFault[]): void {
  if (faults.length > 0) throw faulty(faults)
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

type Settings = Required<Update>

function settingsOf(row: CategoryRow): Settings {
  return {
    name: row.name,
    description: row.description,
    emoji: row.emoji,
    color: row.color,
    appliesTo: row.applies_to,
    viewScope: row.view_scope,
    assignScope: row.assign_scope,
    editScope: row.edit_scope,
    approvalScope: row.approval_scope,
    approvalThreshold: row.approval_threshold,
    allowInitiatorApproval: row.allow_initiator_approval,
    archived: row.archived,
  }
}

function columnsOf(settings: Settings) {
  return {
    name: settings.name,
    description: settings.description,
    emoji: settings.emoji,
    color: settings.color,
    applies_to: settings.appliesTo,
    view_scope: settings.viewScope,
    assign_scope: settings.assignScope,
    edit_scope: settings.editScope,
    approval_scope: settings.approvalScope,
    approval_threshold: settings.approvalThreshold,
    allow_initiator_approval: settings.allowInitiatorApproval,
    archived: settings.archived,
  }
}

function columnsOfField(draft: FieldDraft) {
  return {
    label: draft.label,
    required: draft.required,
    options_json: draft.optionsJson === null ? null : JSON.stringify(draft.optionsJson),
    scale: draft.scale,
    currency_field_key: draft.currencyFieldKey,
    unit: draft.unit,
    // The column's own null says that there is none; JSON's would be a value.
    default_json: (draft.defaultJson ?? null) === null ? null : JSON.stringify(draft.defaultJson),
    help_text: draft.helpText,
    sensitive: draft.sensitive,
    order_index: draft.orderIndex,
    archived: draft.archived,
  }
}

/** Every change of a definition, whatever it is about, is one step of its version and one audit record. */
async function finish(
  trx: Trx,
  { vault_id, id, key }: CategoryRow,
  editor: Editor,
  verb: string,
  details: Record<string, unknown>,
): Promise<CategoryRow> {
  const { version } = await trx
    .updateTable('operation_categories')
    .set((value) => ({
      version: value('version', '+', 1),
      updated_by_id: editor.member.userId,
      updated_at: editor.now,
    }))
    .where('vault_id', '=', vault_id)
    .where('id', '=', id)
    .returning('version')
    .executeTakeFirstOrThrow()
  await record(trx, editor, verb, id, { category: key, version, ...details })
  return (await findCategory(trx, vault_id, id))!
}

async function record(
  trx: Trx,
  { member, now }: Editor,
  verb: string,
  id: string,
  details: Record<string, unknown>,
): Promise<void> {
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action: `category.${verb}`,
    targetType: 'operation_category',
    targetId: id,
    details,
    now,
  })
}
