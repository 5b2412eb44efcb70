import type { Static } from 'typebox'
import { type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { badRequest, conflict, forbidden } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { audit, changedFields } from '../../record/audit/record.ts'
import { assertLive, finishChange, lockDefinition } from './definition.ts'
import { settingsOf } from './present.ts'
import { type CategoryRow, findCategory } from './queries.ts'
import type { CategoryCreation, CategoryUpdate } from './schema.ts'

type Update = Static<typeof CategoryUpdate>

/** @throws 400 for an approval with the threshold 0, 409 when the vault has a category of that key */
export async function createCategory(
  trx: Trx,
  body: Static<typeof CategoryCreation>,
  by: ByMember,
): Promise<CategoryRow> {
  const { member, now } = by
  const draft = withThreshold({ ...defaults, ...body }, body)
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
    .catch(
      onViolation('operation_categories_key', () =>
        conflict('already_exists', `The vault already has a category with the key ${body.key}`),
      ),
    )
  await audit(trx, byMember(by), 'category.created', { type: 'operation_category', id }, { after: draft })
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
 * Changes the fields that `body` names. An archived category can only be restored.
 * @throws 400 for an approval with the threshold 0, 403 for a caller who may not edit it or who changes what only
 *   administrators may change, 404, 409 while it is archived and for archiving a system category
 */
export async function updateCategory(trx: Trx, id: string, body: Update, by: ByMember): Promise<CategoryRow> {
  const category = await lockDefinition(trx, id, by)
  const reserved = administratorFields.find((name) => body[name] !== undefined)
  if (reserved !== undefined && !by.member.isAdmin) {
    throw forbidden('administrator_required', `Only administrators of the vault may change ${reserved}`)
  }
  if (body.archived !== false) assertLive(category)
  if (category.is_system && body.archived === true)
    throw conflict('system_object', 'A system category cannot be archived')
  const before = settingsOf(category)
  const after = withThreshold({ ...before, ...body }, body)
  await trx
    .updateTable('operation_categories')
    .set(columnsOf(after))
    .where('vault_id', '=', category.vault_id)
    .where('id', '=', id)
    .execute()
  return finishChange(trx, category, by, 'updated', { changes: changedFields(before, after) })
}

/**
 * The fields that only administrators may change. With them, an editor of a definition could let anyone, themselves
 * included, view, assign or approve more.
 */
const administratorFields = [
  'viewScope',
  'assignScope',
  'editScope',
  'approvalScope',
  'approvalThreshold',
  'allowInitiatorApproval',
] as const

/** Adds the threshold 1 to an approval for which the body names no threshold. @throws 400 when the body names 0 */
function withThreshold<Draft extends { approvalScope: string; approvalThreshold: number }>(
  draft: Draft,
  body: Update,
): Draft {
  if (draft.approvalScope === 'none' || draft.approvalThreshold >= 1) return draft
  if (body.approvalThreshold === undefined) return { ...draft, approvalThreshold: 1 }
  throw badRequest('approvalThreshold', 'must be at least 1 unless approvalScope is none')
}

type Settings = Required<Update>

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
