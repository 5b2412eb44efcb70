import type { ByMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import { type Outcome as RequestOutcome, requestAction } from '../../rules/approval-requests/request.ts'
import { lockOperation, type OperationKey } from '../feed/queries.ts'
import { type AssignmentPayload, categoryExecutors } from './executors.ts'
import { findAssignment } from './queries.ts'

export type AssignmentOrder = {
  operation: OperationKey
  categoryId: string
  /** null: the assignment is removed. */
  values: Record<string, unknown> | null
  approvalTtlHours: number
}

type Outcome = { isNew: boolean } | Exclude<RequestOutcome, { applied: true }>

/**
 * Assigns a category to an operation, changes the values of its assignment or removes it: at once or, where the category
 * requires it, after approval. Changes of one operation are serialised, so that none is lost: each increments the version,
 * and the last one wins.
 *
 * @throws 400 naming every wrong value, 403, 404 for an operation or category that the member may not see, 409 for an
 *   archived category, one that is being changed concurrently, or a quorum that cannot be reached
 */
export async function requestAssignment(trx: Trx, order: AssignmentOrder, { member, now }: ByMember): Promise<Outcome> {
  const { categoryId, values, approvalTtlHours } = order
  const operation = await lockOperation(trx, member, order.operation)
  if (operation === null) throw notFound('Operation')
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
