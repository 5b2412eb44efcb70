import type { Static } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import { grantsSeenBy } from './definition.ts'
import type { CategoryApproverRow, CategoryFieldRow, CategoryGrantRow, CategoryRow } from './queries.ts'
import type { CategoryField, CategoryUpdate, FieldCreation, OperationCategory } from './schema.ts'

type Category = Static<typeof OperationCategory>

/** Returns the category as this member sees it. */
export function toOperationCategory(
  row: CategoryRow,
  member: Pick<Member, 'userId' | 'groupIds' | 'isAdmin' | 'readsAll'>,
): Category {
  return {
    id: row.id,
    vaultId: row.vault_id,
    key: row.key,
    ...settingsOf(row),
    isSystem: row.is_system,
    version: row.version,
    createdById: row.created_by_id,
    createdBy: row.created_by,
    updatedById: row.updated_by_id,
    updatedBy: row.updated_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    fields: row.fields.map(toCategoryField),
    grants: grantsSeenBy(row, member).map((grant) => toGrant(grant, row)),
    approvers: row.approvers.map((approver) => toApprover(approver, row)),
  }
}

export function toCategoryField(row: CategoryFieldRow): Static<typeof CategoryField> {
  return {
    id: row.id,
    categoryId: row.category_id,
    ...draftOfRow(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

function toGrant(grant: CategoryGrantRow, category: CategoryRow): Category['grants'][number] {
  return {
    id: grant.id,
    vaultId: category.vault_id,
    categoryId: category.id,
    subjectType: grant.subject_type,
    subjectUserId: grant.subject_type === 'user' ? grant.subject_id : null,
    subjectGroupId: grant.subject_type === 'group' ? grant.subject_id : null,
    canView: grant.can_view,
    canAssign: grant.can_assign,
    canEdit: grant.can_edit,
    user: grant.user,
    grantorId: grant.grantor_id,
    grantor: grant.grantor,
    // A revoked grant is deleted; the audit log keeps it.
    status: 'active',
    createdAt: grant.created_at.toISOString(),
  }
}

function toApprover(approver: CategoryApproverRow, category: CategoryRow): Category['approvers'][number] {
  return {
    id: approver.id,
    categoryId: category.id,
    kind: approver.kind,
    userId: approver.user_id,
    groupId: approver.group_id,
    user: approver.user,
    createdAt: approver.created_at.toISOString(),
  }
}

export function settingsOf(row: CategoryRow): Required<Static<typeof CategoryUpdate>> {
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

export function draftOfRow(row: CategoryFieldRow): FieldDraft {
  return {
    key: row.key,
    label: row.label,
    type: row.type,
    required: row.required,
    // PostgreSQL does not keep the order of the members of a JSON object.
    optionsJson: row.options_json?.map(({ value, label }) => ({ value, label })) ?? null,
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

/** The complete definition of a field after a creation or a change. */
export type FieldDraft = Required<Static<typeof FieldCreation>> & { archived: boolean }
