import { byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { runParts } from '../../../db/insert-rows.ts'
import { type AppError, conflict, forbidden, refusalFor } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { audit } from '../../record/audit/record.ts'
import { mailsToVoters } from '../../record/notifications/notification-rows.ts'
import { decidedElsewhere, keepDecision } from '../decisions/decide.ts'
import { type Decision, type Requirement, strictestFirst } from '../decisions/decision.ts'
import { type Executors, type PreparedStep, StaleError, type Step, type StepContext } from '../votes/executor.ts'
import { type ApprovalRequirement, approvalEnd, objectionsOfShortages, openApproval } from '../votes/open.ts'
import type { CreationRecord } from './compare-request-record.ts'
import { applySteps, decideSteps, hashPayload, prepareSteps, type RequestAction, type StepResult } from './steps.ts'

type ActionRequest = {
  member: Member
  action: RequestAction
  /** Exactly one unless `action` is composite. */
  steps: Step[]
  executors: Executors
  approvalTtlHours: number
  now: Date
  /** The data that the executors fetched from outside the database: see `prefetching`. */
  fetched?: unknown[] | null
}

export type Outcome =
  | { applied: true; results: StepResult[] }
  /** The id of the request that waits for votes now. */
  | { request: string }
  /** A refusal that leaves an audit record behind. */
  | { refusal: AppError }

/**
 * Decides on gated actions by the policies, or by the executor of an action that has other rules. If all are allowed, they
 * are carried out at once in one transaction; otherwise they wait for votes or are refused.
 *
 * @throws 400, 404 and 409 like the executors; 409 for a quorum that cannot be reached; PrefetchNeededError
 */
export async function requestAction(trx: Trx, request: ActionRequest): Promise<Outcome> {
  const { member, action, executors, fetched = null, now } = request
  const context: StepContext = { vaultId: member.vault.id, initiatorId: member.userId, now }
  const steps = await prepareSteps(trx, { context, action, steps: request.steps, executors })
  const decisions = await decideSteps(trx, context, member, steps, executors)
  const outcome = outcomeOf(decisions)
  if (outcome.effect === 'refuse') {
    await recordDecision(trx, 'action.refused', request, steps, decisions)
    return { refusal: forbidden(outcome.reason, outcome.message) }
  }
  if (outcome.effect === 'apply') {
    const results = await applySteps(trx, { context, action, steps, executors, fetched }).catch((error: unknown) => {
      throw error instanceof StaleError
        ? conflict('changed_concurrently', 'The target was changed by someone else just now')
        : error
    })
    await recordDecision(trx, 'action.allowed', request, steps, decisions)
    return { applied: true, results }
  }
  return { request: await openRequest(trx, request, steps, decisions, outcome) }
}

async function openRequest(
  trx: Trx,
  { member, action, approvalTtlHours, now }: ActionRequest,
  steps: PreparedStep[],
  decisions: Decision[],
  { strictest, requirements }: Strictest,
): Promise<string> {
  const id = newId(now)
  const vaultId = member.vault.id
  const initiatorId = member.userId
  const payloadHash = hashPayload({ requestId: id, vaultId, initiatorId, action, steps })
  await trx
    .insertInto('approval_requests')
    .values({
      vault_id: vaultId,
      id,
      action,
      status: 'pending',
      initiator_id: initiatorId,
      steps: JSON.stringify(steps),
      payload_hash: payloadHash,
      decision: JSON.stringify(decisions),
      decision_policy_id: strictest.policyId,
      decision_policy_code: strictest.policyCode,
      approval_threshold: strictest.threshold,
      expires_at: approvalEnd(now, { approvalTtlHours }),
      created_at: now,
      updated_at: now,
    })
    .execute()
  const { snapshot, approvers, shortages, parts } = await openApproval(trx, {
    vaultId,
    subjectId: id,
    initiatorId,
    requirements,
    now,
  })
  for (const objection of objectionsOfShortages(shortages)) throw refusalFor(objection)
  const creation: CreationRecord = { payloadHash: payloadHash.toString('hex'), requirements: snapshot }
  const target = { type: 'approval_request', id }
  await audit(trx, byMember({ member, now }), 'approval_request.created', target, {
    action,
    steps: steps.map(({ step }) => step),
    ...creation,
    decisionPolicyCode: strictest.policyCode,
    bypassed: bypassedOf(decisions),
  })
  const mails = mailsToVoters(
    trx,
    { vaultId, subjectType: 'approval_request', subjectId: id, initiatorId },
    approvers,
    now,
  )
  await runParts(trx, [...parts, mails])
  return id
}

async function recordDecision(
  trx: Trx,
  event: 'action.allowed' | 'action.refused',
  { member, action, now }: ActionRequest,
  steps: PreparedStep[],
  decisions: Decision[],
): Promise<void> {
  const { targetType, targetId } = steps[0]!
  const decided = steps.map(({ step }, i) => {
    const { effect, decisionPolicy } = decisions[i]!
    return { ...step, effect, decisionPolicyCode: decisionPolicy?.code ?? null }
  })
  const details = { action, steps: decided, bypassed: bypassedOf(decisions) }
  await audit(trx, byMember({ member, now }), event, { type: targetType, id: targetId }, details)
  if (decidedElsewhere.includes(action)) return
  const kept = decisions.map((decision, i) => ({ actionType: steps[i]!.step.action, decision }))
  const { userId: initiatorId } = member
  await keepDecision(trx, { vaultId: member.vault.id, initiatorId, action, decisions: kept, now })
}

/** The codes of the policies whose votes were waived for an administrator. */
function bypassedOf(decisions: Decision[]): string[] {
  const waived = decisions.flatMap(({ requirements }) => requirements.filter(({ bypassed }) => bypassed))
  return [...new Set(waived.map(({ policyCode }) => policyCode))]
}

type Strictest = { strictest: Requirement; requirements: ApprovalRequirement[] }

type StepsOutcome =
  | { effect: 'apply' }
  /** `message` is for the initiator to read. */
  | { effect: 'refuse'; stepIndex: number; reason: 'blocked_by_policy' | 'no_policy_allows'; message: string }
  | ({ effect: 'wait' } & Strictest)

/**
 * Returns the outcome of a composite from the decisions on its steps (contract 11.3). Any block or denial refuses all steps;
 * a block is reported before a denial. If all steps are allowed or waived, they are applied; otherwise they wait for votes.
 */
export function outcomeOf(decisions: Decision[]): StepsOutcome {
  for (const effect of ['block', 'deny'] as const) {
    const stepIndex = decisions.findIndex((decision) => decision.effect === effect)
    if (stepIndex === -1) continue
    const reason = effect === 'block' ? 'blocked_by_policy' : 'no_policy_allows'
    const message = decisions[stepIndex]!.blockReason ?? 'No policy allows this'
    return { effect: 'refuse', stepIndex, reason, message }
  }
  const requirements = decisions.flatMap((decision, stepIndex) =>
    decision.requirements.map((requirement) => ({ ...requirement, stepIndex })),
  )
  const withBypass = new Set(
    decisions.flatMap(({ policies }) => policies.filter(({ adminBypass }) => adminBypass).map(({ id }) => id)),
  )
  const strictness = ({ policyId: id, threshold }: Requirement) => {
    return { id, approvalThreshold: threshold, adminBypass: withBypass.has(id) }
  }
  const [strictest] = requirements
    .filter(({ bypassed }) => !bypassed)
    .toSorted((a, b) => strictestFirst(strictness(a), strictness(b)))
  return strictest === undefined ? { effect: 'apply' } : { effect: 'wait', strictest, requirements }
}
