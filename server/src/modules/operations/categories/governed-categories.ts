import { governedAction } from '../../rules/change-sets/governed-actions.ts'
import { createCategory, updateCategory } from './actions.ts'
import { addField, deleteField, updateField } from './field-actions.ts'
import {
  CategoryApprovers,
  CategoryCreation,
  CategoryGrants,
  CategoryUpdate,
  FieldCreation,
  NamedField,
  NamedFieldUpdate,
} from './schema.ts'
import { replaceApprovers, replaceGrants } from './subject-actions.ts'

/** The governed actions on categories. They decide who may approve, assign, see and edit their values. */
export const categoryActions = {
  category_create: governedAction(
    { operationId: 'createOperationCategory', target: null, schema: CategoryCreation },
    async (trx, { payload }, by) => (await createCategory(trx, payload, by)).id,
  ),
  category_update: governedAction(
    { operationId: 'updateOperationCategory', target: 'operation category', schema: CategoryUpdate },
    async (trx, { targetId, payload }, by) => (await updateCategory(trx, targetId, payload, by)).id,
  ),
  category_approvers_replace: governedAction(
    { operationId: 'replaceCategoryApprovers', target: 'operation category', schema: CategoryApprovers },
    async (trx, { targetId, payload }, by) => (await replaceApprovers(trx, targetId, payload, by)).id,
  ),
  category_grants_replace: governedAction(
    { operationId: 'replaceCategoryGrants', target: 'operation category', schema: CategoryGrants },
    async (trx, { targetId, payload }, by) => (await replaceGrants(trx, targetId, payload, by)).id,
  ),
  category_field_add: governedAction(
    { operationId: 'addCategoryField', target: 'operation category', schema: FieldCreation },
    async (trx, { targetId, payload }, by) => (await addField(trx, targetId, payload, by)).id,
  ),
  category_field_update: governedAction(
    { operationId: 'updateCategoryField', target: 'operation category', schema: NamedFieldUpdate },
    async (trx, { targetId: id, payload: { fieldId, ...payload } }, by) =>
      (await updateField(trx, { id, fieldId }, payload, by)).id,
  ),
  category_field_delete: governedAction(
    { operationId: 'deleteCategoryField', target: 'operation category', schema: NamedField },
    async (trx, { targetId: id, payload: { fieldId } }, by) => {
      await deleteField(trx, { id, fieldId }, by)
      return fieldId
    },
  ),
}
