import { type Caller, type Member, memberOf } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { created, mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { PageOf, Ref, VaultAndIdParams, VaultParams } from '../../../http/schema.ts'
import { cursorTag, pageOf, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import {
  addField,
  createCategory,
  deleteField,
  type Editor,
  replaceApprovers,
  replaceGrants,
  updateCategory,
  updateField,
} from './actions.ts'
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

const tag = 'Operation categories'

export function operationCategoryRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/operation-categories',
    route({
      operationId: 'listOperationCategories',
      summary: 'Operation categories of a vault, newest first',
      description:
        'appliesTo transfer and deposit find categories for both, too. A cursor goes with the filters that it was made with.',
      tag,
      access: 'member',
      params: VaultParams,
      querystring: CategoryQuery,
      answers: { 200: PageOf(Ref(OperationCategory)) },
    }),
    async (request) => {
      const member = memberOf(request)
      const { archived = null, appliesTo = null } = request.query
      const list = cursorTag({ list: 'operation-categories', vaultId: member.vault.id, archived, appliesTo })
      const { after, limit } = pageOf(request.query, list)
      const rows = await listCategories(deps.db, member.vault.id, { archived, appliesTo, after, limit })
      const position = (row: CategoryRow) => ({ createdAt: row.created_at, id: row.id })
      return toPage(rows, limit, position, (row) => toOperationCategory(row, member), list)
    },
  )

  app.post(
    '/vaults/:code/operation-categories',
    route({
      operationId: 'createOperationCategory',
      summary: 'Create an operation category',
      description:
        'For administrators. Fields, grants and approvers are added afterwards. Unless said otherwise it applies to both ' +
        'types of operation, everyone who sees an operation sees its values, and its owner or initiator assigns and edits.',
      tag,
      access: 'administrator',
      params: VaultParams,
      body: CategoryCreation,
      answers: { 201: Ref(OperationCategory) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        created(toOperationCategory(await createCategory(trx, request.body, editor), editor.member)),
      )
    },
  )

  app.get(
    '/vaults/:code/operation-categories/:id',
    route({
      operationId: 'getOperationCategory',
      summary: 'One operation category with its fields, grants and approvers',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      answers: { 200: Ref(OperationCategory) },
    }),
    async (request) => {
      const member = memberOf(request)
      const row = await findCategory(deps.db, member.vault.id, request.params.id)
      if (row === null) throw notFound('Operation category')
      return toOperationCategory(row, member)
    },
  )

  app.patch(
    '/vaults/:code/operation-categories/:id',
    route({
      operationId: 'updateOperationCategory',
      summary: 'Change an operation category, archive it or bring it back',
      description:
        'For administrators and who is granted canEdit; scopes and what concerns approval are for administrators alone. ' +
        'An archived category takes no change but archived: false.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: CategoryUpdate,
      answers: { 200: Ref(OperationCategory) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toOperationCategory(await updateCategory(trx, request.params.id, request.body, editor), editor.member)),
      )
    },
  )

  app.post(
    '/vaults/:code/operation-categories/:id/fields',
    route({
      operationId: 'addCategoryField',
      summary: 'Add a field to an operation category',
      description:
        'For administrators and who is granted canEdit. Key and type cannot be changed later. A currencyFieldKey that names ' +
        'no select or text field of the category is a 400 with code CATEGORY_FIELD_LINK.',
      tag,
      access: 'member',
      params: VaultAndIdParams,
      body: FieldCreation,
      answers: { 201: Ref(CategoryField) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        created(toCategoryField(await addField(trx, request.params.id, request.body, editor))),
      )
    },
  )

  app.patch(
    '/vaults/:code/operation-categories/:id/fields/:fieldId',
    route({
      operationId: 'updateCategoryField',
      summary: 'Change a field of an operation category, archive it or bring it back',
      description:
        'For administrators and who is granted canEdit; only administrators uncover sensitive values. Values that were ' +
        'recorded before stay as they are; once there are some, the scale stays too.',
      tag,
      access: 'member',
      params: CategoryFieldParams,
      body: FieldUpdate,
      answers: { 200: Ref(CategoryField) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toCategoryField(await updateField(trx, request.params, request.body, editor))),
      )
    },
  )

  app.delete(
    '/vaults/:code/operation-categories/:id/fields/:fieldId',
    route({
      operationId: 'deleteCategoryField',
      summary: 'Delete a field that no operation has a value of',
      description: 'For administrators and who is granted canEdit. A field with recorded values can only be archived.',
      tag,
      access: 'member',
      params: CategoryFieldParams,
      answers: { 204: null },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) => {
        await deleteField(trx, request.params, editor)
        return noContent()
      })
    },
  )

  app.put(
    '/vaults/:code/operation-categories/:id/grants',
    route({
      operationId: 'replaceCategoryGrants',
      summary: 'Say who is granted what of an operation category',
      description: 'For administrators. The list is replaced whole.',
      tag,
      access: 'administrator',
      params: VaultAndIdParams,
      body: CategoryGrants,
      answers: { 200: Ref(OperationCategory) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toOperationCategory(await replaceGrants(trx, request.params.id, request.body, editor), editor.member)),
      )
    },
  )

  app.put(
    '/vaults/:code/operation-categories/:id/approvers',
    route({
      operationId: 'replaceCategoryApprovers',
      summary: 'Say who approves changes of values of an operation category',
      description: 'For administrators. The list is replaced whole.',
      tag,
      access: 'administrator',
      params: VaultAndIdParams,
      body: CategoryApprovers,
      answers: { 200: Ref(OperationCategory) },
      errors: [409],
    }),
    async (request, reply) => {
      const editor = editorOf(request)
      return mutate(deps, request, reply, async (trx) =>
        ok(toOperationCategory(await replaceApprovers(trx, request.params.id, request.body, editor), editor.member)),
      )
    },
  )

  /** Who is asking, and when. */
  function editorOf(request: { member: Member | null; caller: Caller | null }): Editor {
    return { member: memberOf(request), now: deps.clock() }
  }
}
