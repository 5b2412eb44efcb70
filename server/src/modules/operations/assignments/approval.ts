import type { Decision } from '../../rules/policies/decision.ts'
import type { Facts } from '../../rules/policies/facts.ts'
import type { CategoryRow } from '../categories/queries.ts'

export type AssignmentAction = 'category_assign' | 'category_edit'

/** Whether the change needs the approvers of the category; removing an assignment counts as editing it. */
export function needsApproval({ approval_scope }: Pick<CategoryRow, 'approval_scope'>, action: AssignmentAction) {
  return approval_scope === 'assign_and_edit' || (approval_scope === 'edit' && action === 'category_edit')
}

/**
 * The decision of a category about an action on it, in the form that the approval engine takes from policies: the
 * category acts as the one matching policy. It waives no vote for administrators.
 *
 * @param administratorsId the group that approves when the category names no approvers
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
