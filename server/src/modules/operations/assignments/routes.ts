import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted, created, ok } from '../../../http/mutate.ts'
import { readRequest } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { toOperationCategory } from '../categories/present.ts'
import { operationViewer } from '../categories/rights.ts'
import { getOperation } from '../feed/queries.ts'
import { type AssignmentOrder, requestAssignment } from './actions.ts'
import { toCategoryAssignment } from './present.ts'
import { findAssignment, listAssignableCategories, listAssignments } from './queries.ts'
import {
  AvailableCategories,
  CategoryAssignment,
  CategoryAssignments,
  CategoryValues,
  operationCategoryParams,
  operationParams,
} from './schema.ts'

export function categoryAssignmentRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Operation categories', {
    access: 'member',
    scopes: { reads: 'read', writes: 'operate' },
  })

  api.get('listCategoryAssignments', '/vaults/:code/operations/:type/:id/categories', {
    summary: 'List category assignments of an operation',
    description:
      'The assigned categories that the caller may see, with their values; the first category comes first. ' +
      'Sensitive fields are null for callers who may not edit the assignment.',
    params: operationParams,
    answers: { 200: CategoryAssignments },
    handler: async (db, { member, params }) => {
      const operation = await getOperation(db, member, params)
      const rows = await listAssignments(db, visibleScopeOf(member), operation)
      const viewer = operationViewer(member, operation)
      return { items: rows.map((row) => toCategoryAssignment(row, viewer)) }
    },
  })

  api.get('listAvailableCategories', '/vaults/:code/operations/:type/:id/categories/available', {
    summary: 'List categories available for an operation',
    description:
      'The categories that the caller may assign: not archived, applicable to this type of operation, and with the ' +
      'right to assign. Includes categories that are already assigned.',
    params: operationParams,
    answers: { 200: AvailableCategories },
    handler: async (db, { member, params }) => {
      const operation = await getOperation(db, member, params)
      const rows = await listAssignableCategories(db, operation, operationViewer(member, operation))
      return { items: rows.map((row) => toOperationCategory(row, member)) }
    },
  })

  api.put('assignCategory', '/vaults/:code/operations/:type/:id/categories/:categoryId', {
    summary: 'Assign a category to an operation',
    description:
      'Assigns the category, or edits the values of its assignment. 201 for a new assignment, 200 for an edit. When ' +
      'the category requires approval, 202 with the approval request; its payload holds all values, also sensitive ' +
      'values, for the approvers to read.',
    params: operationCategoryParams,
    errors: ['not_permitted', 'already_exists', 'archived', 'changed_concurrently', 'quorum_unreachable'],
    body: CategoryValues,
    answers: { 200: CategoryAssignment, 201: CategoryAssignment, 202: WaitingAction },
    handler: async (trx, { params, body, member, now }) => {
      const outcome = await request(
        trx,
        { operation: params, categoryId: params.categoryId, values: body.values },
        { member, now },
      )
      if (!('isNew' in outcome)) return outcome
      const operation = await getOperation(trx, member, params)
      const row = (await findAssignment(trx, operation, params.categoryId))!
      const assignment = toCategoryAssignment(row, operationViewer(member, operation))
      return outcome.isNew ? created(assignment) : ok(assignment)
    },
  })

  api.delete('unassignCategory', '/vaults/:code/operations/:type/:id/categories/:categoryId', {
    summary: 'Unassign a category from an operation',
    description:
      'Requires the right to edit. 202 with the approval request when the category requires approval for edits.',
    params: operationCategoryParams,
    errors: ['not_permitted', 'changed_concurrently', 'quorum_unreachable'],
    answers: { 202: WaitingAction, 204: null },
    handler: async (trx, { params, ...by }) => {
      const outcome = await request(trx, { operation: params, categoryId: params.categoryId, values: null }, by)
      return 'isNew' in outcome ? undefined : outcome
    },
  })

  /** Answers with the result, a refusal, or the request that waits for votes. */
  async function request(trx: Trx, order: Omit<AssignmentOrder, 'approvalTtlHours'>, by: ByMember) {
    const { approvalTtlHours } = deps.config
    const outcome = await requestAssignment(trx, { ...order, approvalTtlHours }, by)
    return 'request' in outcome
      ? accepted({ request: await readRequest(trx, by.member, outcome.request, by.now) })
      : outcome
  }
}
