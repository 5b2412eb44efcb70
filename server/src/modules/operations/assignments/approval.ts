import type { Decision } from '../../rules/policies/decision.ts'
import type { Facts } from '../../rules/policies/facts.ts'
import type { CategoryRow } from '../categories/queries.ts'

export type AssignmentAction = 'category_assign' | 'category_edit'

/** Whether the approvers of a category must agree; to remove an assignment is to edit it. */
export function needsApproval({ approval_scope }: Pick<CategoryRow, 'approval_scope'>, action: AssignmentAction) {
  return approval_scope === 'assign_and_edit' || (approval_scope === 'edit' && action === 'category_edit')
}

/**
 * What a category says of an action on it, in the form in which the approval engine takes the word of policies: it
 * stands for the one policy that matches. It waives no vote for administrators.
 *
 * @param administratorsId who approves when the category names no approvers
 */
export function decisionOf(
  category: CategoryRow,
  action: AssignmentAction,
  administratorsId: string,
  facts: Facts,
): Decision {
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
