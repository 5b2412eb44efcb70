import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type Member, memberOf } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { accepted, created, mutate, noContent, ok } from '../../../http/mutate.ts'
import { type App, route } from '../../../http/route.ts'
import { Ref } from '../../../http/schema.ts'
import { notFound } from '../../../lib/errors.ts'
import { readRequest } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import { toOperationCategory } from '../categories/present.ts'
import { findOperation, type OperationKey, type OperationRow } from '../feed/queries.ts'
import { requestAssignment } from './actions.ts'
import { toCategoryAssignment } from './present.ts'
import { findAssignment, listAssignableCategories, listAssignments } from './queries.ts'
import {
  AvailableCategories,
  CategoryAssignment,
  CategoryAssignments,
  CategoryValues,
  OperationCategoryParams,
  OperationParams,
} from './schema.ts'
import { standingOf } from './standing.ts'

const tag = 'Operation categories'

export function categoryAssignmentRoutes(app: App, deps: Deps): void {
  app.get(
    '/vaults/:code/operations/:type/:id/categories',
    route({
      operationId: 'listCategoryAssignments',
      summary: 'Categories of an operation with their values',
      description:
        'Those that the `viewScope` of the category shows to the caller, the first of them first. Whoever may not edit an assignment reads null for its sensitive fields.',
      tag,
      access: 'member',
      params: OperationParams,
      answers: { 200: Ref(CategoryAssignments) },
    }),
    async (request) => {
      const member = memberOf(request)
      const operation = await getOperation(deps.db, member, request.params)
      const rows = await listAssignments(deps.db, visibleScopeOf(member), operation)
      const standing = standingOf(member, operation)
      return { items: rows.map((row) => toCategoryAssignment(row, standing)) }
    },
  )

  app.get(
    '/vaults/:code/operations/:type/:id/categories/available',
    route({
      operationId: 'listAvailableCategories',
      summary: 'Categories that the caller may assign to an operation',
      description:
        'For tagging forms: not archived, for operations of this type, and with the right to assign; those that are assigned already included.',
      tag,
      access: 'member',
      params: OperationParams,
      answers: { 200: Ref(AvailableCategories) },
    }),
    async (request) => {
      const member = memberOf(request)
      const operation = await getOperation(deps.db, member, request.params)
      const rows = await listAssignableCategories(deps.db, operation, standingOf(member, operation))
      return { items: rows.map((row) => toOperationCategory(row, member)) }
    },
  )

  app.put(
    '/vaults/:code/operations/:type/:id/categories/:categoryId',
    route({
      operationId: 'assignCategory',
      summary: 'Assign a category to an operation, or edit its values',
      description:
        '201 when it is assigned now, 200 when its values are edited. Where the category demands approval, 202 with the request that waits for its approvers; all values of the payload, sensitive ones included, are there for them to read.',
      tag,
      access: 'member',
      params: OperationCategoryParams,
      body: CategoryValues,
      answers: { 200: Ref(CategoryAssignment), 201: Ref(CategoryAssignment), 202: Ref(WaitingAction) },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      const { categoryId } = request.params
      return mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const outcome = await requestAssignment(trx, {
          member,
          operation: request.params,
          categoryId,
          values: request.body.values,
          approvalTtlHours: deps.config.approvalTtlHours,
          now,
        })
        if ('refusal' in outcome) return outcome
        if ('request' in outcome) return accepted({ request: await readRequest(trx, member, outcome.request, now) })
        const operation = await getOperation(trx, member, request.params)
        const row = (await findAssignment(trx, operation, categoryId))!
        const assignment = toCategoryAssignment(row, standingOf(member, operation))
        return outcome.isNew ? created(assignment) : ok(assignment)
      })
    },
  )

  app.delete(
    '/vaults/:code/operations/:type/:id/categories/:categoryId',
    route({
      operationId: 'unassignCategory',
      summary: 'Take a category off an operation',
      description: 'An edit like any other: 202 where the category demands approval for edits.',
      tag,
      access: 'member',
      params: OperationCategoryParams,
      answers: { 202: Ref(WaitingAction), 204: null },
      errors: [409],
    }),
    async (request, reply) => {
      const member = memberOf(request)
      return mutate(deps, request, reply, async (trx) => {
        const now = deps.clock()
        const outcome = await requestAssignment(trx, {
          member,
          operation: request.params,
          categoryId: request.params.categoryId,
          values: null,
          approvalTtlHours: deps.config.approvalTtlHours,
          now,
        })
        if ('refusal' in outcome) return outcome
        if ('request' in outcome) return accepted({ request: await readRequest(trx, member, outcome.request, now) })
        return noContent()
      })
    },
  )
}

async function getOperation(db: Db | Trx, member: Member, key: OperationKey): Promise<OperationRow> {
  const row = await findOperation(db, member, key)
  if (row === null) throw notFound('Operation')
  return row
}
