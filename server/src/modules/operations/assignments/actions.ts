import { type Viewer, visibleScopeOf } from '../../../access/address-scope.ts'
import { type By, type ByMember, byInitiator } from '../../../access/caller.ts'
import { initiatorLeft } from '../../../access/refusals.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { runParts } from '../../../db/insert-rows.ts'
import { badRequest, conflict, faulty, forbidden, notFound } from '../../../lib/errors.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { type Outcome as RequestOutcome, requestAction } from '../../rules/approval-requests/request-action.ts'
import { factsOfInitiator, findInitiator, type Initiator } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { findAdministratorsId } from '../../rules/policy-groups/memberships.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import {
  type Executor,
  type PreparedStep,
  StaleError,
  type Step,
  type StepContext,
} from '../../rules/votes/executor.ts'
import { planValues, type Values } from '../categories/field-values.ts'
import { type CategoryRow, findCategory, findCategoryByKey, lockCategory } from '../categories/queries.ts'
import { type OperationViewer, operationViewer, type Rights, rightsOf } from '../categories/rights.ts'
import { findOperation, lockOperation, type OperationKey, type OperationRow } from '../feed/queries.ts'
import { deleteAssignment, insertAssignment, moveToFront, updateAssignment } from './assignment-rows.ts'
import {
  type AssignmentAction,
  assertAssignable,
  assigningNamed,
  type NamedCategory,
  nameCategory,
  needsApproval,
} from './named-category.ts'
import { type AssignmentRow, findAssignment, listAssignments } from './queries.ts'

export type AssignmentOrder = {
  operation: OperationKey
  categoryId: string
  /** Null removes the assignment. */
  values: Record<string, unknown> | null
  approvalTtlHours: number
}

type Outcome = { isNew: boolean } | Exclude<RequestOutcome, { applied: true }>

/**
 * Assigns a category to an operation, changes the values of its assignment or removes it. The change takes effect at
 * once or, where the category requires it, after approval. Changes of one operation are serialised, so that none is
 * lost: each increments the version, and the last one wins.
 *
 * @throws 400 naming every wrong value, 403, 404 for an operation or category that the member may not see, 409 for an
 *   archived category, one that is being changed concurrently, or a quorum that cannot be reached
 */
export async function requestAssignment(trx: Trx, order: AssignmentOrder, { member, now }: ByMember): Promise<Outcome> {
  const { categoryId, values, approvalTtlHours } = order
  const operation = orNotFound(await lockOperation(trx, member, order.operation), 'Operation')
  const isNew = values !== null && (await findAssignment(trx, operation, categoryId)) === null
  const action = isNew ? 'category_assign' : 'category_edit'
  const payload: AssignmentPayload = { operationType: operation.type, operationId: operation.id, categoryId, values }
  const outcome = await requestAction(trx, {
    member,
    action,
    steps: [{ action, targetId: null, payload }],
    executors: categoryExecutors,
    approvalTtlHours,
    now,
  })
  return 'applied' in outcome ? { isNew } : outcome
}

/** The requested change. Once it is prepared, `values` are the complete new values of the assignment. */
type AssignmentPayload = {
  operationType: OperationType
  operationId: string
  categoryId: string
  /** Null removes the assignment. */
  values: Record<string, unknown> | null
}

const assign: Executor = {
  async prepare(db, context, step) {
    const payload = payloadOf(step)
    const { category, assignment, rights } = await findTarget(db, context, payload)
    if (assignment !== null) throw conflict('already_exists', 'The category is already assigned')
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

/** Refuses a change of the values of an archived category: its assignments can only be removed. @throws 403, 409 when it is archived */
function assertEditable(category: Pick<CategoryRow, 'archived'>, { canEdit }: Rights, removes: boolean): void {
  if (!canEdit) throw forbidden('not_permitted', 'You may not edit this category')
  if (category.archived && !removes) throw conflict('archived', 'The category is archived')
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

/** Returns the operation and the category. A category that the viewer may not see is reported as missing. @throws 404 */
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

function plannedValues(category: CategoryRow, values: Record<string, unknown>, current: Values | null): Values {
  const plan = planValues(category.fields, values, current)
  if ('faults' in plan) throw faulty(plan.faults)
  return plan.values
}

/**
 * Returns the version of the target. The values were checked against one version of the category, and a newer version
 * may give them another meaning. A target with an assignment and a target without one have different versions.
 */
function versionOf({ category, assignment }: Pick<Target, 'category' | 'assignment'>): string {
  return assignment === null ? String(category.version) : `${category.version}:${assignment.version}`
}

function assertUnchanged(baseVersion: string | null, target: Pick<Target, 'category' | 'assignment'>): void {
  if (baseVersion !== versionOf(target)) throw new StaleError()
}

async function decide(trx: Trx, { vaultId, now }: StepContext, { step }: PreparedStep, initiator: Initiator) {
  const category = (await findCategory(trx, vaultId, payloadOf(step).categoryId))!
  const facts = { ...factsOfInitiator(initiator, now), category: category.key }
  return decisionOf(category, step.action as AssignmentAction, await findAdministratorsId(trx, vaultId), facts)
}

async function viewerOf(db: Db | Trx, { vaultId, initiatorId }: StepContext): Promise<Viewer> {
  const initiator = await findInitiator(db, vaultId, initiatorId)
  if (initiator === null) throw initiatorLeft()
  return { ...initiator, readsAll: initiator.isAdmin, vault: { id: vaultId } }
}

/** Returns the payload of a step. Only `requestAssignment` creates these steps; a composite request cannot contain them. */
const payloadOf = ({ payload }: Step) => payload as AssignmentPayload
const keyOf = ({ operationType: type, operationId: id }: AssignmentPayload) => ({ type, id })

/**
 * Returns the decision of a category about an action on it, in the form that the approval engine takes from policies:
 * the category acts as the one matching policy. It waives no vote for administrators.
 *
 * @param administratorsId the group that approves when the category names no approvers
 */
function decisionOf(category: CategoryRow, action: AssignmentAction, administratorsId: string, facts: Facts): Decision {
  const none = { blockReason: null, trace: [], policies: [], facts }
  if (!needsApproval(category, action)) return { effect: 'allow', decisionPolicy: null, requirements: [], ...none }
  const { id, key: code, name, approvers } = category
  const requirement = {
    policyId: id,
    policyCode: code,
    policyName: name,
    threshold: category.approval_threshold,
    bypassed: false,
    allowInitiator: category.allow_initiator_approval,
    approvers:
      approvers.length === 0
        ? null
        : approvers.map(({ kind, user_id, group_id }) => ({ kind, id: user_id ?? group_id! })),
    groupId: administratorsId,
  }
  return { effect: 'approval', decisionPolicy: { id, code, name }, requirements: [requirement], ...none }
}

/**
 * Makes the named category the first one of a locked operation. The current first category is unassigned. Null only
 * unassigns. Only categories that the member may see count, and both changes require the member's rights.
 *
 * @throws 400 with the field `category`, 403, 409
 */
export async function replaceFirstCategory(
  trx: Trx,
  operation: OperationRow,
  key: string | null,
  { member, now }: ByMember,
): Promise<void> {
  const [first] = await listAssignments(trx, visibleScopeOf(member), operation)
  if (key === (first?.key ?? null)) return
  const viewer = operationViewer(member, operation)
  const by = { actorId: member.userId, now }
  const next = key === null ? null : await findNext(trx, operation, key, viewer)
  if (first !== undefined) await unassign(trx, operation, first, viewer, by)
  if (next === null) return
  await moveToFront(trx, operation, 'id' in next ? next.id : await assignNamed(trx, operation, next, by))
}

/** Returns the existing assignment to move to the front, or the category to assign. */
async function findNext(
  trx: Trx,
  operation: OperationRow,
  key: string,
  viewer: OperationViewer,
): Promise<AssignmentRow | NamedCategory> {
  const category = await findCategoryByKey(trx, operation.vault_id, key)
  const assigned = category === null ? null : await findAssignment(trx, operation, category.id)
  if (assigned !== null && rightsOf(assigned, viewer).canView) return assigned
  return nameCategory(category, { type: operation.type, viewer, field: 'category' })
}

async function assignNamed(
  trx: Trx,
  operation: OperationRow,
  named: NamedCategory,
  by: Pick<By, 'actorId' | 'now'>,
): Promise<string> {
  const { id, parts } = assigningNamed(trx, operation, named, by)
  await runParts(trx, parts)
  return id
}

async function unassign(
  trx: Trx,
  operation: OperationRow,
  assignment: AssignmentRow,
  viewer: OperationViewer,
  by: Pick<By, 'actorId' | 'now'>,
): Promise<void> {
  const category = (await lockCategory(trx, operation.vault_id, assignment.category_id, 'share'))!
  assertEditable(category, rightsOf(category, viewer), true)
  if (needsApproval(category, 'category_edit')) {
    throw badRequest(
      'category',
      `${assignment.key} needs approval to be replaced: unassign it by DELETE …/categories/{categoryId}`,
    )
  }
  await deleteAssignment(trx, operation, assignment, by)
}
