import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { governedIn } from '../../rules/governance/govern.ts'
import { createCategory, updateCategory } from './actions.ts'
import { addField, deleteField, updateField } from './field-actions.ts'
import { toCategoryField, toOperationCategory } from './present.ts'
import { findCategory, listCategories } from './queries.ts'
import {
  CategoryApprovers,
  CategoryCreation,
  CategoryField,
  CategoryGrants,
  CategoryQuery,
  CategoryUpdate,
  categoryFieldParams,
  FieldCreation,
  FieldUpdate,
  OperationCategory,
} from './schema.ts'
import { replaceApprovers, replaceGrants } from './subject-actions.ts'

export function operationCategoryRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation categories', {
    access: 'member',
    scopes: { reads: 'read', writes: 'rules' },
  })
  const governed = governedIn(deps)

  api.list('listOperationCategories', '/vaults/:code/operation-categories', {
    summary: 'List operation categories',
    description:
      'For members of the vault, newest first. `appliesTo=transfer` and `appliesTo=deposit` include categories for ' +
      'both. A cursor is valid only with the filters of the request that returned it.',
    querystring: CategoryQuery,
    item: OperationCategory,
    cursorOf: ({ member, query: { archived = null, appliesTo = null } }) => ({
      list: 'operation-categories',
      vaultId: member.vault.id,
      archived,
      appliesTo,
    }),
    load: (db, { member, query: { archived = null, appliesTo = null } }, page) =>
      listCategories(db, member.vault.id, { archived, appliesTo, ...page }),
    present: (row, { member }) => toOperationCategory(row, member),
  })

  api.post('createOperationCategory', '/vaults/:code/operation-categories', {
    summary: 'Create an operation category',
    description:
      'For administrators of the vault. Fields, grants and approvers are added afterwards. By default the category applies ' +
      'to both types of operation, everybody who sees an operation sees its values, and the owner or initiator of the ' +
      'operation assigns and edits. 409 when the vault has a category with this key.',
    access: 'administrator',
    errors: ['already_exists', 'limit_reached', 'quorum_unreachable'],
    body: CategoryCreation,
    confirmed: 'where protected',
    answers: { 201: OperationCategory, 202: WaitingAction },
    handler: (trx, { body, ...by }) =>
      governed(trx, by, ['category_create', null, body], async () =>
        toOperationCategory(await createCategory(trx, body, by), by.member),
      ),
  })

  api.get('getOperationCategory', '/vaults/:code/operation-categories/:id', {
    summary: 'Get an operation category',
    description:
      'With its fields, grants and approvers. For members of the vault; a member who may not edit the category sees ' +
      'only their own grants and those of their groups.',
    answers: { 200: OperationCategory },
    handler: async (db, { member, params }) =>
      toOperationCategory(orNotFound(await findCategory(db, member.vault.id, params.id), 'Operation category'), member),
  })

  api.patch('updateOperationCategory', '/vaults/:code/operation-categories/:id', {
    summary: 'Update an operation category',
    description:
      'Also archives or restores the category. For administrators, and for members with `canEdit`; scopes and ' +
      'approval settings are for administrators only. 409 for an archived category, unless the change contains `archived: ' +
      'false`.',
    errors: [
      'administrator_required',
      'not_permitted',
      'archived',
      'system_object',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: CategoryUpdate,
    confirmed: 'where protected',
    answers: { 200: OperationCategory, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['category_update', params.id, body], async () =>
        toOperationCategory(await updateCategory(trx, params.id, body, by), by.member),
      ),
  })

  api.post('addCategoryField', '/vaults/:code/operation-categories/:id/fields', {
    summary: 'Add a field to an operation category',
    description:
      'For administrators, and for members with `canEdit`. Key and type cannot be changed later. 400 with code ' +
      'CATEGORY_FIELD_LINK when `currencyFieldKey` does not name a select or text field of the category.',
    errors: [
      'category_field_link',
      'administrator_required',
      'not_permitted',
      'already_exists',
      'archived',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: FieldCreation,
    confirmed: 'where protected',
    answers: { 201: CategoryField, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['category_field_add', params.id, body], async () =>
        toCategoryField(await addField(trx, params.id, body, by)),
      ),
  })

  api.patch('updateCategoryField', '/vaults/:code/operation-categories/:id/fields/:fieldId', {
    summary: 'Update a field of an operation category',
    description:
      'Also archives or restores the field. For administrators, and for members with `canEdit`; only administrators ' +
      'can turn `sensitive` off. Recorded values do not change; the scale of a field with recorded values is final.',
    params: categoryFieldParams,
    errors: [
      'category_field_link',
      'administrator_required',
      'not_permitted',
      'archived',
      'in_use',
      'limit_reached',
      'quorum_unreachable',
    ],
    body: FieldUpdate,
    confirmed: 'where protected',
    answers: { 200: CategoryField, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['category_field_update', params.id, { fieldId: params.fieldId, ...body }], async () =>
        toCategoryField(await updateField(trx, params, body, by)),
      ),
  })

  api.delete('deleteCategoryField', '/vaults/:code/operation-categories/:id/fields/:fieldId', {
    summary: 'Delete a field of an operation category',
    description:
      'For administrators, and for members with `canEdit`. 409 when the field has recorded values: archive it instead.',
    params: categoryFieldParams,
    errors: ['administrator_required', 'not_permitted', 'archived', 'in_use', 'limit_reached', 'quorum_unreachable'],
    confirmed: 'where protected',
    answers: { 202: WaitingAction, 204: null },
    handler: (trx, { params: { id, fieldId }, ...by }) =>
      governed(trx, by, ['category_field_delete', id, { fieldId }], () => deleteField(trx, { id, fieldId }, by)),
  })

  api.put('replaceCategoryGrants', '/vaults/:code/operation-categories/:id/grants', {
    summary: 'Replace the grants of an operation category',
    description: 'For administrators. The list is replaced as a whole.',
    access: 'administrator',
    errors: ['archived', 'limit_reached', 'quorum_unreachable'],
    body: CategoryGrants,
    confirmed: 'where protected',
    answers: { 200: OperationCategory, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['category_grants_replace', params.id, body], async () =>
        toOperationCategory(await replaceGrants(trx, params.id, body, by), by.member),
      ),
  })

  api.put('replaceCategoryApprovers', '/vaults/:code/operation-categories/:id/approvers', {
    summary: 'Replace the approvers of an operation category',
    description:
      'The people and groups who approve changes of values. For administrators. The list is replaced as a whole.',
    access: 'administrator',
    errors: ['archived', 'limit_reached', 'quorum_unreachable'],
    body: CategoryApprovers,
    confirmed: 'where protected',
    answers: { 200: OperationCategory, 202: WaitingAction },
    handler: (trx, { params, body, ...by }) =>
      governed(trx, by, ['category_approvers_replace', params.id, body], async () =>
        toOperationCategory(await replaceApprovers(trx, params.id, body, by), by.member),
      ),
  })
}
