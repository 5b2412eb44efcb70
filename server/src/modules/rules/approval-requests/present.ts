import type { Static } from 'typebox'
import { rulesVersionOf } from '../decisions/decision.ts'
import { toVotes } from '../votes/tally.ts'
import type { RequestRow } from './queries.ts'
import type { ApprovalRequest } from './schema.ts'
import { boundPayloadOf } from './steps.ts'

/** `now` decides whether the time to vote is over, because the status may not have been updated yet. */
export function toApprovalRequest(row: RequestRow, now: Date): Static<typeof ApprovalRequest> {
  const isOpen = row.status === 'pending' && row.expires_at > now
  const votes = toVotes(row.requirements, row.approvers, isOpen)
  const single = row.action === 'composite' ? null : row.steps[0]!
  return {
    id: row.id,
    vaultId: row.vault_id,
    action: row.action,
    status: row.status,
    initiatorId: row.initiator_id,
    initiator: row.initiator,
    targetType: single === null ? 'composite' : single.targetType,
    targetId: single === null ? null : single.targetId,
    baseVersion: single === null ? null : single.baseVersion,
    payload: single === null ? { steps: row.steps.map(({ step }) => step) } : single.step.payload,
    boundPayload: boundPayloadOf(row),
    payloadHash: row.payload_hash.toString('hex'),
    decisionPolicyId: row.decision_policy_id,
    decisionPolicyCode: row.decision_policy_code,
    rulesVersion: rulesVersionOf(row.decision),
    approvalThreshold: row.approval_threshold,
    ...votes,
    requirements: row.requirements.map(({ stepIndex }, i) => ({ stepIndex, ...votes.requirements[i]! })),
    approvers: row.approvers.map(({ stepIndexes }, i) => ({ ...votes.approvers[i]!, stepIndexesJson: stepIndexes })),
    results: row.results,
    resolvedResultId: row.resolved_result_id,
    resolvedAt: row.resolved_at?.toISOString() ?? null,
    failureReason: row.failure_reason,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
