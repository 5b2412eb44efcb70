import type { Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type AppError, conflict, forbidden, notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { insertAuditRecord } from '../../record/audit/record.ts'
import { notifyApprovers, notifyInitiator, notifyOfStop } from '../../record/notifications/write.ts'
import { decide } from '../policies/decide.ts'
import type { Decision, Requirement } from '../policies/decision.ts'
import type { Facts } from '../policies/facts.ts'
import { findInitiator, type Initiator } from '../policies/queries.ts'
import { type Appliers, type PreparedStep, StaleError, type Step, type StepContext } from '../votes/applier.ts'
import { openApproval } from '../votes/open.ts'
import { listRequirements } from '../votes/queries.ts'
import { isApproved } from '../votes/tally.ts'
import { castVote, settleEntitlements } from '../votes/vote.ts'
import { applierOf, applySteps, type StepResult, tryApplySteps } from './apply.ts'
import { type CreationRecord, differenceFromRecord } from './compare-record.ts'
import { nextStatus, type RequestEvent } from './lifecycle.ts'
import { outcomeOf } from './outcome.ts'
import { hashPayload, type RequestAction } from './payload.ts'
import { prepareSteps } from './prepare.ts'
import { findRequest, type LockedRequest, listStoredRequests, lockRequest } from './queries.ts'

export type ActionRequest = {
  member: Member
  action: RequestAction
  /** Exactly one unless `action` is composite. */
  steps: Step[]
  appliers: Appliers
  approvalTtlHours: number
  now: Date
  /** What the appliers fetched from outside the database: see `prefetching`. */
  fetched?: unknown[] | null
}

export type Outcome =
  | { applied: true; results: StepResult[] }
  /** The id of the request that waits for votes now. */
  | { request: string }
  /** A refusal that leaves an audit record behind. */
  | { refusal: AppError }

/**
 * Asks the policies, or what an action is governed by instead, about gated actions: allowed, they are done at once and together; otherwise they wait for votes,
 * or nothing happens at all.
 *
 * @throws 400, 404 and 409 as the appliers; 409 for a quorum that cannot be reached; PrefetchNeededError
 */
export async function requestAction(trx: Trx, request: ActionRequest): Promise<Outcome> {
  const { member, action, appliers, now } = request
  const context: StepContext = { vaultId: member.vault.id, initiatorId: member.userId, now }
  const steps = await prepareSteps(trx, { context, action, steps: request.steps, appliers })
  const decisions = await decideOn(trx, context, member, steps, appliers)
  const outcome = outcomeOf(decisions)
  if (outcome.effect === 'refuse') {
    await recordDecision(trx, 'action.refused', request, steps, decisions)
    return { refusal: forbidden(outcome.message) }
  }
  if (outcome.effect === 'apply') {
    const results = await applySteps(trx, { context, action, steps, appliers, fetched: request.fetched ?? null }).catch(
      (error: unknown) => {
        throw error instanceof StaleError ? conflict('The target was changed by someone else just now') : error
      },
    )
    await recordDecision(trx, 'action.allowed', request, steps, decisions)
    return { applied: true, results }
  }
  return { request: await openRequest(trx, request, steps, decisions, outcome) }
}

/**
 * Records a yes. The last one needed does what was asked for, in this transaction and after a look at what may have
 * changed since: a check here only tightens. Where it cannot be done the vote stays and nothing else.
 *
 * @throws 403 when the caller has no vote, 404, 409 when it waits no longer or must not go on; PrefetchNeededError
 */
export async function approveRequest(
  trx: Trx,
  log: Deps['log'],
  vote: VoteOn & { appliers: Appliers; fetched: unknown[] | null },
): Promise<{ id: string } | { refusal: AppError }> {
  const { id, member, now, appliers, fetched } = vote
  const request = await lockPending(trx, vote)
  const stopped = await stopUnlessAsRecorded(trx, log, request, now)
  if (stopped !== null) return stopped
  await castVote(trx, { ...voteOf(vote), decision: 'approve' })
  await recordVote(trx, vote, request, 'approve')
  const requirements = await listRequirements(trx, member.vault.id, id)
  if (!isApproved(requirements)) return { id }

  const context: StepContext = { vaultId: member.vault.id, initiatorId: request.initiator_id, now }
  const isWaived = requirements.some(({ bypassed }) => bypassed)
  await assertMayGoOn(trx, context, { steps: request.steps, isWaived, appliers })
  const attempt = await tryApplySteps(trx, { context, action: request.action, steps: request.steps, appliers, fetched })
  if ('results' in attempt) {
    await resolve(trx, request, { event: 'approved', actorId: member.userId, now, results: attempt.results })
    return { id }
  }
  const failureReason = attempt.reason
  await resolve(trx, request, { event: attempt.event, actorId: member.userId, now, failureReason })
  return {
    refusal: conflict('Your vote counts, but what was asked for cannot be done: nothing of it was', failureReason),
  }
}

/** Records a veto: one is enough, for all steps. @throws as `approveRequest` */
export async function rejectRequest(trx: Trx, log: Deps['log'], vote: VoteOn): Promise<{ refusal: AppError } | null> {
  const request = await lockPending(trx, vote)
  const stopped = await stopUnlessAsRecorded(trx, log, request, vote.now)
  if (stopped !== null) return stopped
  await castVote(trx, { ...voteOf(vote), decision: 'reject' })
  await recordVote(trx, vote, request, 'reject')
  await resolve(trx, request, { event: 'rejected', actorId: vote.member.userId, now: vote.now })
  return null
}

/** Takes a request back, by its initiator or an administrator. @throws 403, 404, 409 when it waits no longer */
export async function cancelRequest(
  trx: Trx,
  { member, id, now }: { member: Member; id: string; now: Date },
): Promise<void> {
  const request = await lockVisible(trx, member, id)
  if (request.initiator_id !== member.userId && !member.isAdmin) {
    throw forbidden('Only the initiator or an administrator may cancel a request')
  }
  await resolve(trx, request, { event: 'cancelled', actorId: member.userId, now })
}

type Resolution = {
  event: RequestEvent
  /** null: the service itself. */
  actorId: string | null
  now: Date
  results?: StepResult[]
  failureReason?: string
}

/**
 * Ends the waiting of a locked request, with what follows from it.
 * @throws 409 when it is resolved already
 */
export async function resolve(trx: Trx, request: LockedRequest, resolution: Resolution): Promise<void> {
  const { event, actorId, now, results = null, failureReason = null } = resolution
  const to = nextStatus(request.status, event)
  if (to === null) throw conflict(`The request is ${request.status} already`)
  const { numUpdatedRows } = await trx
    .updateTable('approval_requests')
    .set({
      status: to,
      results: results === null ? null : JSON.stringify(results),
      resolved_result_id: results?.at(-1)?.resultId ?? null,
      failure_reason: failureReason,
      resolved_at: now,
      updated_at: now,
    })
    .where('vault_id', '=', request.vault_id)
    .where('id', '=', request.id)
    .where('status', '=', request.status)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw conflict('The request was resolved by someone else')
  await settleEntitlements(trx, request.vault_id, request.id)
  await insertAuditRecord(trx, {
    vaultId: request.vault_id,
    actorId,
    action: `approval_request.${to}`,
    targetType: 'approval_request',
    targetId: request.id,
    details: { action: request.action, payloadHash: request.payload_hash.toString('hex'), results, failureReason },
    now,
  })
  await notifyInitiator(trx, notified(request.vault_id, request.id, request.initiator_id), actorId, now)
}

export type VoteOn = { member: Member; id: string; comment: string | null; now: Date }

function voteOf({ member, id, comment, now }: VoteOn) {
  return { vaultId: member.vault.id, subjectId: id, userId: member.userId, comment, now }
}

async function lockVisible(trx: Trx, member: Member, id: string): Promise<LockedRequest> {
  if ((await findRequest(trx, member, id)) === null) throw notFound('Approval request')
  const request = await lockRequest(trx, member.vault.id, id)
  if (request === null) throw notFound('Approval request')
  return request
}

async function lockPending(trx: Trx, { member, id, now }: VoteOn): Promise<LockedRequest> {
  const request = await lockVisible(trx, member, id)
  if (request.status !== 'pending') throw conflict(`The request is ${request.status} already`)
  if (request.expires_at <= now) throw conflict('The time to vote on this request is over')
  return request
}

/**
 * Compares a locked request with its audit records. A difference ends it as failed and raises the alarm, which the
 * caller must commit: nothing of it is done.
 */
async function stopUnlessAsRecorded(
  trx: Trx,
  log: Deps['log'],
  request: LockedRequest,
  now: Date,
): Promise<{ refusal: AppError } | null> {
  const { vault_id: vaultId, id } = request
  const [stored] = await listStoredRequests(trx, vaultId, [id])
  const difference = differenceFromRecord(stored!, await listRecordsOf(trx, vaultId, 'approval_request', [id]))
  if (difference === null) return null
  const failureReason = `The request is not what was recorded: ${difference}`
  log.error({ requestId: id, vaultId, reason: failureReason }, 'approval request stopped')
  await resolve(trx, request, { event: 'applyFailed', actorId: null, now, failureReason })
  await notifyOfStop(trx, { vaultId, subjectType: 'approval_request', subjectId: id }, now)
  return { refusal: conflict('The request was stopped', failureReason) }
}

/** The last vote looks again at what may have changed since the request; a policy may only have become stricter. */
async function assertMayGoOn(
  trx: Trx,
  context: StepContext,
  { steps, isWaived, appliers }: { steps: PreparedStep[]; isWaived: boolean; appliers: Appliers },
): Promise<void> {
  const initiator = await findInitiator(trx, context.vaultId, context.initiatorId)
  if (initiator === null) throw conflict('The initiator is disabled or no longer a member of the vault')
  if (isWaived && !initiator.isAdmin) {
    throw conflict('A vote was waived for an administrator, and the initiator no longer is one')
  }
  const decisions = await decideOn(trx, context, initiator, steps, appliers)
  const outcome = decisions.find(({ effect }) => effect === 'block')
  if (outcome !== undefined) throw conflict('A policy blocks this now', outcome.blockReason ?? undefined)
}

async function decideOn(
  trx: Trx,
  context: StepContext,
  initiator: Initiator,
  steps: PreparedStep[],
  appliers: Appliers,
): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (const prepared of steps) {
    const applier = applierOf(appliers, prepared.step.action)
    decisions.push(
      applier.decide === undefined
        ? await askPolicies(trx, context, prepared, initiator)
        : await applier.decide(trx, context, prepared, initiator),
    )
  }
  return decisions
}

function askPolicies(
  trx: Trx,
  { vaultId, now }: StepContext,
  { step, facts }: PreparedStep,
  initiator: Initiator,
): Promise<Decision> {
  const { userId: initiatorId, groupIds: initiatorGroupIds } = initiator
  const known = { ...facts, now, initiatorId, initiatorGroupIds } as Facts
  return decide(trx, { vaultId, actionType: step.action, initiator, facts: known })
}

async function openRequest(
  trx: Trx,
  { member, action, approvalTtlHours, now }: ActionRequest,
  steps: PreparedStep[],
  decisions: Decision[],
  { strictest, requirements }: { strictest: Requirement; requirements: (Requirement & { stepIndex: number })[] },
): Promise<string> {
  const id = newId(now)
  const vaultId = member.vault.id
  const payloadHash = hashPayload({ requestId: id, vaultId, initiatorId: member.userId, action, steps })
  await trx
    .insertInto('approval_requests')
    .values({
      vault_id: vaultId,
      id,
      action,
      status: 'pending',
      initiator_id: member.userId,
      steps: JSON.stringify(steps),
      payload_hash: payloadHash,
      decision: JSON.stringify(decisions),
      decision_policy_id: strictest.policyId,
      decision_policy_code: strictest.policyCode,
      approval_threshold: strictest.threshold,
      expires_at: new Date(now.getTime() + approvalTtlHours * 3_600_000),
      created_at: now,
      updated_at: now,
    })
    .execute()
  const snapshot = await openApproval(trx, { vaultId, subjectId: id, initiatorId: member.userId, requirements, now })
  const creation: CreationRecord = { payloadHash: payloadHash.toString('hex'), requirements: snapshot }
  await insertAuditRecord(trx, {
    vaultId,
    actorId: member.userId,
    action: 'approval_request.created',
    targetType: 'approval_request',
    targetId: id,
    details: {
      action,
      steps: steps.map(({ step }) => step),
      ...creation,
      decisionPolicyCode: strictest.policyCode,
      bypassed: bypassedOf(decisions),
    },
    now,
  })
  await notifyApprovers(trx, notified(vaultId, id, member.userId), now)
  return id
}

async function recordDecision(
  trx: Trx,
  event: 'action.allowed' | 'action.refused',
  { member, action, now }: ActionRequest,
  steps: PreparedStep[],
  decisions: Decision[],
): Promise<void> {
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action: event,
    targetType: steps[0]!.targetType,
    targetId: steps[0]!.targetId,
    details: {
      action,
      steps: steps.map(({ step }, i) => ({
        ...step,
        effect: decisions[i]!.effect,
        decisionPolicyCode: decisions[i]!.decisionPolicy?.code ?? null,
      })),
      bypassed: bypassedOf(decisions),
    },
    now,
  })
}

async function recordVote(
  trx: Trx,
  { member, id, comment, now }: VoteOn,
  { payload_hash }: LockedRequest,
  decision: 'approve' | 'reject',
): Promise<void> {
  await insertAuditRecord(trx, {
    vaultId: member.vault.id,
    actorId: member.userId,
    action: 'approval_request.voted',
    targetType: 'approval_request',
    targetId: id,
    details: { decision, comment, payloadHash: payload_hash.toString('hex') },
    now,
  })
}

/** The codes of the policies whose votes were waived for an administrator. */
function bypassedOf(decisions: Decision[]): string[] {
  const waived = decisions.flatMap(({ requirements }) => requirements.filter(({ bypassed }) => bypassed))
  return [...new Set(waived.map(({ policyCode }) => policyCode))]
}

const notified = (vaultId: string, subjectId: string, initiatorId: string) =>
  ({ vaultId, subjectType: 'approval_request', subjectId, initiatorId }) as const
