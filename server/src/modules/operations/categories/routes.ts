import type { Deps } from '../../../deps.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { created, noContent, ok } from '../../../http/mutate.ts'
import type { App } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { cursorTag, pageOf, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { createCategory, updateCategory } from './actions.ts'
import { addField, deleteField, updateField } from './field-actions.ts'
import { toCategoryField, toOperationCategory } from './present.ts'
import { type CategoryRow, findCategory, listCategories } from './queries.ts'
import {
  CategoryApprovers,
  CategoryCreation,
  CategoryField,
  CategoryFieldParams,
  CategoryGrants,
  CategoryQuery,
  CategoryUpdate,
  FieldCreation,
  FieldUpdate,
  OperationCategory,
} from './schema.ts'
import { replaceApprovers, replaceGrants } from './subject-actions.ts'

const ofCategory = { params: VaultAndIdParams, errors: [409] } as const
const ofField = { access: 'member', params: CategoryFieldParams, errors: [409] } as const

export function operationCategoryRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation categories')

  api.get(
    '/vaults/:code/operation-categories',
    {
      operationId: 'listOperationCategories',
      summary: 'Operation categories of a vault, newest first',
      description:
        'appliesTo transfer and deposit find categories for both, too. A cursor goes with the filters that it was made with.',
      access: 'member',
      params: VaultParams,
      querystring: CategoryQuery,
      answers: { 200: PageOf(Ref(OperationCategory)) },
    },
    async (db, { member, query }) => {
      const { archived = null, appliesTo = null } = query
      const list = cursorTag({ list: 'operation-categories', vaultId: member.vault.id, archived, appliesTo })
      const { after, limit } = pageOf(query, list)
      const rows = await listCategories(db, member.vault.id, { archived, appliesTo, after, limit })
      const position = (row: CategoryRow) => ({ createdAt: row.created_at, id: row.id })
      return toPage(rows, limit, position, (row) => toOperationCategory(row, member), list)
    },
  )

  api.post(
    '/vaults/:code/operation-categories',
    {
      operationId: 'createOperationCategory',
      summary: 'Create an operation category',
      description:
        'For administrators. Fields, grants and approvers are added afterwards. Unless said otherwise it applies to both ' +
        'types of operation, everyone who sees an operation sees its values, and its owner or initiator assigns and edits.',
      access: 'administrator',
      params: VaultParams,
      body: CategoryCreation,
      answers: { 201: OperationCategory },
      errors: [409],
    },
    async (trx, { body, ...by }) => created(toOperationCategory(await createCategory(trx, body, by), by.member)),
  )

  api.get(
    '/vaults/:code/operation-categories/:id',
    {
      operationId: 'getOperationCategory',
      summary: 'One operation category with its fields, grants and approvers',
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: OperationCategory },
    },
    async (db, { member, params }) => {
      const row = await findCategory(db, member.vault.id, params.id)
      if (row === null) throw notFound('Operation category')
      return toOperationCategory(row, member)
    },
  )

  api.patch(
    '/vaults/:code/operation-categories/:id',
    {
      operationId: 'updateOperationCategory',
      summary: 'Change an operation category, archive it or bring it back',
      description:
        'For administrators and who is granted canEdit; scopes and what concerns approval are for administrators alone. ' +
        'An archived category takes no change but archived: false.',
      access: 'member',
      ...ofCategory,
      body: CategoryUpdate,
      answers: { 200: OperationCategory },
    },
    async (trx, { params, body, ...by }) =>
      ok(toOperationCategory(await updateCategory(trx, params.id, body, by), by.member)),
  )

  api.post(
    '/vaults/:code/operation-categories/:id/fields',
    {
      operationId: 'addCategoryField',
      summary: 'Add a field to an operation category',
      description:
        'For administrators and who is granted canEdit. Key and type cannot be changed later. A currencyFieldKey that names ' +
        'no select or text field of the category is a 400 with code CATEGORY_FIELD_LINK.',
      access: 'member',
      ...ofCategory,
      body: FieldCreation,
      answers: { 201: CategoryField },
    },
    async (trx, { params, body, ...by }) => created(toCategoryField(await addField(trx, params.id, body, by))),
  )

  api.patch(
    '/vaults/:code/operation-categories/:id/fields/:fieldId',
    {
      operationId: 'updateCategoryField',
      summary: 'Change a field of an operation category, archive it or bring it back',
      description:
        'For administrators and who is granted canEdit; only administrators uncover sensitive values. Values that were ' +
        'recorded before stay as they are; once there are some, the scale stays too.',
      ...ofField,
      body: FieldUpdate,
      answers: { 200: CategoryField },
    },
    async (trx, { params, body, ...by }) => ok(toCategoryField(await updateField(trx, params, body, by))),
  )

  api.delete(
    '/vaults/:code/operation-categories/:id/fields/:fieldId',
    {
      operationId: 'deleteCategoryField',
      summary: 'Delete a field that no operation has a value of',
      description: 'For administrators and who is granted canEdit. A field with recorded values can only be archived.',
      ...ofField,
      answers: { 204: null },
    },
    async (trx, { params, ...by }) => {
      await deleteField(trx, params, by)
      return noContent()
    },
  )

  api.put(
    '/vaults/:code/operation-categories/:id/grants',
    {
      operationId: 'replaceCategoryGrants',
      summary: 'Say who is granted what of an operation category',
      description: 'For administrators. The list is replaced whole.',
      access: 'administrator',
      ...ofCategory,
      body: CategoryGrants,
      answers: { 200: OperationCategory },
    },
    async (trx, { params, body, ...by }) =>
      ok(toOperationCategory(await replaceGrants(trx, params.id, body, by), by.member)),
  )

  api.put(
    '/vaults/:code/operation-categories/:id/approvers',
    {
      operationId: 'replaceCategoryApprovers',
      summary: 'Say who approves changes of values of an operation category',
      description: 'For administrators. The list is replaced whole.',
      access: 'administrator',
      ...ofCategory,
      body: CategoryApprovers,
      answers: { 200: OperationCategory },
    },
    async (trx, { params, body, ...by }) =>
      ok(toOperationCategory(await replaceApprovers(trx, params.id, body, by), by.member)),
  )
}
