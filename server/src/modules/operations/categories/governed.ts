import { governedAction } from '../../rules/governance/actions.ts'
import { createCategory, updateCategory } from './actions.ts'
import { CategoryApprovers, CategoryCreation, CategoryUpdate } from './schema.ts'
import { replaceApprovers } from './subject-actions.ts'

/** The approval settings of categories as governed actions. */
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
}
