import type { Viewer } from '../../../access/address-scope.ts'
import { byInitiator } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, conflict, faulty, forbidden, notFound } from '../../../lib/errors.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { findInitiator } from '../../rules/policies/queries.ts'
import {
  type Executor,
  type PreparedStep,
  StaleError,
  type Step,
  type StepContext,
} from '../../rules/votes/executor.ts'
import { type CategoryRow, findCategory, lockCategory } from '../categories/queries.ts'
import { findOperation, lockOperation, type OperationRow } from '../feed/queries.ts'
import { type AssignmentAction, decisionOf } from './approval.ts'
import { type AssignmentRow, findAdministratorsId, findAssignment } from './queries.ts'
import { operationViewer, type Rights, rightsOf } from './rights.ts'
import { planValues, type Values } from './values.ts'
import { deleteAssignment, insertAssignment, updateAssignment } from './write.ts'

/** The requested change. Once it is prepared, `values` are the complete new values of the assignment. */
export type AssignmentPayload = {
  operationType: OperationType
  operationId: string
  categoryId: string
  /** null: the assignment is removed. */
  values: Record<string, unknown> | null
}

const assign: Executor = {
  async prepare(db, context, step) {
    const payload = payloadOf(step)
    const { category, assignment, rights } = await findTarget(db, context, payload)
    if (assignment !== null) throw conflict('The category is assigned already')
    assertAssignable(category, payload.operationType, rights)
    return prepared(step, { category, assignment }, plannedValues(category, payload.values ?? {}, null))
  },
  decide,
  async apply(trx, context, step, baseVersion) {
    const payload = payloadOf(step)
    const { operation, category, assignment, rights } = await lockTarget(trx, context, payload)
    assertUnchanged(baseVersion, { category, assignment })
    assertAssignable(category, payload.operationType, rights)
    const values = payload.values as Values
    return { resultId: await insertAssignment(trx, operation, { category, values }, byInitiator(context)) }
  },
}

const edit: Executor = {
  async prepare(db, context, step) {
    const { category, assignment, rights } = await findTarget(db, context, payloadOf(step))
    if (assignment === null) throw notFound('Category assignment')
    const { values } = payloadOf(step)
    assertEditable(category, rights, values === null)
    const planned = values === null ? null : plannedValues(category, values, assignment.values)
    return prepared(step, { category, assignment }, planned)
  },
  decide,
  async apply(trx, context, step, baseVersion) {
    const { operation, category, assignment, rights } = await lockTarget(trx, context, payloadOf(step))
    if (assignment?.id !== step.targetId) throw new StaleError('The category was unassigned meanwhile')
    assertUnchanged(baseVersion, { category, assignment })
    const values = payloadOf(step).values as Values | null
    assertEditable(category, rights, values === null)
    if (values === null) await deleteAssignment(trx, operation, assignment, byInitiator(context))
    else await updateAssignment(trx, operation, { assignment, values }, byInitiator(context))
    return { resultId: assignment.id }
  },
}

export const categoryExecutors = { category_assign: assign, category_edit: edit }

/** @throws 403, 409 when it is archived, 400 when it does not apply to the operation */
export function assertAssignable(category: CategoryRow, type: OperationType, { canAssign }: Rights): void {
  if (!canAssign) throw forbidden('You may not assign this category')
  if (category.archived) throw conflict('The category is archived')
  if (category.applies_to !== 'both' && category.applies_to !== type) {
    throw badRequest('categoryId', `is a category for operations of type ${category.applies_to}`)
  }
}

/** Values of an archived category cannot be changed, only removed. @throws 403, 409 when it is archived */
export function assertEditable(category: Pick<CategoryRow, 'archived'>, { canEdit }: Rights, removes: boolean): void {
  if (!canEdit) throw forbidden('You may not edit this category')
  if (category.archived && !removes) throw conflict('The category is archived')
}

type Target = { operation: OperationRow; category: CategoryRow; assignment: AssignmentRow | null; rights: Rights }

async function findTarget(db: Db | Trx, context: StepContext, payload: AssignmentPayload): Promise<Target> {
  const viewer = await viewerOf(db, context)
  const operation = await findOperation(db, viewer, keyOf(payload))
  const category = await findCategory(db, context.vaultId, payload.categoryId)
  return targetOf(db, viewer, operation, category)
}

async function lockTarget(trx: Trx, context: StepContext, payload: AssignmentPayload): Promise<Target> {
  const viewer = await viewerOf(trx, context)
  const operation = await lockOperation(trx, viewer, keyOf(payload))
  const category = await lockCategory(trx, context.vaultId, payload.categoryId, 'share')
  return targetOf(trx, viewer, operation, category)
}

/** A category that the viewer may not see is reported as missing. @throws 404 */
async function targetOf(
  db: Db | Trx,
  viewer: Viewer,
  operation: OperationRow | null,
  category: CategoryRow | null,
): Promise<Target> {
  if (operation === null) throw notFound('Operation')
  const rights = category === null ? null : rightsOf(category, operationViewer(viewer, operation))
  if (category === null || rights?.canView !== true) throw notFound('Operation category')
  return { operation, category, assignment: await findAssignment(db, operation, category.id), rights }
}

function prepared(step: Step, target: Pick<Target, 'category' | 'assignment'>, values: Values | null): PreparedStep {
  const targetId = target.assignment?.id ?? null
  return {
    step: { ...step, targetId, payload: { ...step.payload, values } },
    targetType: 'category_assignment',
    targetId,
    baseVersion: versionOf(target),
    facts: {},
  }
}

function plannedValues(category: CategoryRow, given: Record<string, unknown>, current: Values | null): Values {
  const plan = planValues(category.fields, given, current)
  if ('faults' in plan) throw faulty(plan.faults)
  return plan.values
}

/**
 * The values were checked against an earlier version of the category; a new version may give them another meaning. The
 * version of an existing assignment differs from that of none.
 */
function versionOf({ category, assignment }: Pick<Target, 'category' | 'assignment'>): string {
  return assignment === null ? String(category.version) : `${category.version}:${assignment.version}`
}

function assertUnchanged(baseVersion: string | null, target: Pick<Target, 'category' | 'assignment'>): void {
  if (baseVersion !== versionOf(target)) throw new StaleError('The category or its assignment was changed meanwhile')
}

async function decide(
  trx: Trx,
  { vaultId, now }: StepContext,
  { step }: PreparedStep,
  { userId: initiatorId, groupIds: initiatorGroupIds }: { userId: string; groupIds: string[] },
) {
  const category = (await findCategory(trx, vaultId, payloadOf(step).categoryId))!
  const facts = { now, initiatorId, initiatorGroupIds, category: category.key }
  return decisionOf(category, step.action as AssignmentAction, await findAdministratorsId(trx, vaultId), facts)
}

async function viewerOf(db: Db | Trx, { vaultId, initiatorId }: StepContext): Promise<Viewer> {
  const initiator = await findInitiator(db, vaultId, initiatorId)
  if (initiator === null) throw conflict('The initiator is disabled or no longer a member of the vault')
  return { ...initiator, vault: { id: vaultId } }
}

/** Only `requestAssignment` creates these steps; a composite request cannot contain them. */
const payloadOf = ({ payload }: Step) => payload as AssignmentPayload
const keyOf = ({ operationType: type, operationId: id }: AssignmentPayload) => ({ type, id })
