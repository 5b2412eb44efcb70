import { type RawBuilder, sql } from 'kysely'
import type { ByMember } from '../../../access/caller.ts'
import { initiatorLeft, waiverLost } from '../../../access/refusals.ts'
import type { Trx } from '../../../db/client.ts'
import { assignments, insertsOf, type Part, runParts } from '../../../db/insert-rows.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict } from '../../../lib/errors.ts'
import { toAuditRow } from '../../record/audit/record.ts'
import { notifyOfStop } from '../../record/notifications/notification-rows.ts'
import { findInitiator, findMembership } from '../decisions/decide.ts'
import { type ActiveHold, activeHoldOf } from '../holds/active.ts'
import { type Approval, assertMayCancel, closing, type VotableSubject } from '../votes/ballot.ts'
import type { Executors, StepContext } from '../votes/executor.ts'
import { expireDue } from '../votes/expire.ts'
import { differenceFromRecord } from './compare-request-record.ts'
import { nextStatus, type RequestEvent } from './lifecycle.ts'
import {
  type LockedRequest,
  listDueRequests,
  listStoredRequests,
  lockRequest,
  lockVisibleRequest,
  type StoredRequest,
} from './queries.ts'
import { decideSteps, type StepResult, tryApplySteps } from './steps.ts'

/** The inputs for carrying out an approved request; `fetched` is the result of `prefetching`. */
type Execution = { executors: Executors; fetched: unknown[] | null }

/** SQL: the active hold that stops votes. A hold of the vault does not stop votes on the release of a hold. */
function holdOn({ vault_id: vaultId, initiator_id, steps }: LockedRequest): RawBuilder<ActiveHold | null> {
  const isRelease = steps.every(({ step }) => step.action === 'hold_release')
  return activeHoldOf({ vaultId, ofVault: !isRelease, userIds: [initiator_id] })
}

/** Approval requests as a votable subject. */
export function votableRequests(
  log: Deps['log'],
  execution: Execution,
): VotableSubject<LockedRequest, StoredRequest, null> {
  return {
    type: 'approval_request',
    noun: 'request',
    lock: lockVisibleRequest,
    holdOn,
    assertOpen({ status, expires_at }, now) {
      if (status !== 'pending') throw conflict('wrong_state', `The request is already ${status}`)
      if (expires_at <= now) throw conflict('approval_expired', 'The time to vote on this request has expired')
    },
    listStored: listStoredRequests,
    compare(stored, records) {
      const difference = differenceFromRecord(stored, records)
      return difference === null ? { recorded: null } : { difference }
    },
    async stop(trx, request, failureReason, now) {
      const { vault_id: vaultId, id } = request
      log.error({ approvalRequestId: id, vaultId, reason: failureReason }, 'approval request stopped')
      await resolveRequest(trx, request, { event: 'applyFailed', actorId: null, now, failureReason })
      await notifyOfStop(trx, { vaultId, subjectType: 'approval_request', subjectId: id }, now)
      const message = 'The request failed because it differs from its audit record'
      return conflict('differs_from_record', message, failureReason)
    },
    mustBeSigned: (_recorded, { vault }) => vault.protection === 'votes',
    toVoteRecord: (decision) => ({ action: 'approval_request.voted', details: { decision } }),
    onApproved: (trx, request, approval) => execute(trx, request, approval, execution),
    onRejected: (trx, request, { member, now, parts }) =>
      resolveRequest(trx, request, { event: 'rejected', actorId: member.userId, now }, parts),
  }
}

/**
 * Carries out the request in this transaction. If that fails, only the vote is kept, and the request ends as failed or stale.
 * @throws 409 when the request is no longer permitted; PrefetchNeededError
 */
async function execute(
  trx: Trx,
  request: LockedRequest,
  { member, now, requirements, parts }: Approval<null>,
  { executors, fetched }: Execution,
): Promise<Refusal | null> {
  const context: StepContext = { vaultId: request.vault_id, initiatorId: request.initiator_id, now }
  const isWaived = requirements.some(({ bypassed }) => bypassed)
  await assertMayGoOn(trx, context, request, { isWaived, executors })
  await runParts(trx, parts)
  const { action, steps } = request
  const attempt = await tryApplySteps(trx, { context, action, steps, executors, fetched })
  const actorId = member.userId
  if ('results' in attempt) {
    await resolveRequest(trx, request, { event: 'approved', actorId, now, results: attempt.results })
    return null
  }
  const { event, reason: failureReason } = attempt
  await resolveRequest(trx, request, { event, actorId, now, failureReason })
  const message = 'Your vote was recorded, but the request could not be applied and had no effect'
  return { refusal: conflict('not_applied', message, failureReason) }
}

/** Repeats the checks of the request before the last vote. Only a policy that blocks can stop the request now. */
async function assertMayGoOn(
  trx: Trx,
  context: StepContext,
  { steps }: LockedRequest,
  { isWaived, executors }: { isWaived: boolean; executors: Executors },
): Promise<void> {
  const isForAuditors = steps.every(({ step }) => executors[step.action]?.isForAuditors === true)
  const find = isForAuditors ? findMembership : findInitiator
  const initiator = await find(trx, context.vaultId, context.initiatorId)
  if (initiator === null) throw initiatorLeft()
  if (isWaived && !initiator.isAdmin) throw waiverLost()
  const decisions = await decideSteps(trx, context, initiator, steps, executors)
  const block = decisions.find(({ effect }) => effect === 'block')
  if (block !== undefined)
    throw conflict('blocked_by_policy_now', 'A policy blocks this now', block.blockReason ?? undefined)
}

/** Cancels a request for its initiator or an administrator. @throws 403, 404, 409 when the request does not wait */
export async function cancelRequest(trx: Trx, id: string, { member, now }: ByMember): Promise<void> {
  const request = await lockVisibleRequest(trx, member, id)
  assertMayCancel('request', request, member)
  await resolveRequest(trx, request, { event: 'cancelled', actorId: member.userId, now })
}

type Resolution = {
  event: RequestEvent
  /** null for the service itself. */
  actorId: string | null
  now: Date
  results?: StepResult[]
  failureReason?: string
}

/**
 * Resolves a locked request: status, audit record and notifications.
 * @throws 409 when the request is already resolved
 */
async function resolveRequest(
  trx: Trx,
  request: LockedRequest,
  resolution: Resolution,
  parts: Part[] = [],
): Promise<void> {
  const { event, actorId, now, results = null, failureReason = null } = resolution
  const { vault_id: vaultId, id, action, payload_hash } = request
  const to = nextStatus(request.status, event)
  if (to === null) throw conflict('wrong_state', `The request is already ${request.status}`)
  const resolved = assignments({
    status: to,
    results: results === null ? null : JSON.stringify(results),
    resolved_result_id: results?.at(-1)?.resultId ?? null,
    failure_reason: failureReason,
    resolved_at: now,
    updated_at: now,
  })
  const update = sql`
    update approval_requests set ${resolved}
    where vault_id = ${vaultId} and id = ${id} and status = ${request.status} returning id`
  const otherwise = () => conflict('wrong_state', 'The request was resolved by someone else')
  const details = { action, payloadHash: payload_hash.toString('hex'), results, failureReason }
  const target = { targetType: 'approval_request', targetId: id }
  const record = toAuditRow(trx, { vaultId, actorId, now, action: `approval_request.${to}`, ...target, details })
  await runParts(trx, [
    ...parts,
    { update, rows: 1, otherwise },
    ...insertsOf({ audit_records: [record] }),
    ...closing(trx, 'approval_request', request, actorId, now),
  ])
}

/** Expires the requests whose time to vote is over. */
export function expireRequests(deps: Pick<Deps, 'db' | 'clock' | 'log'>): Promise<void> {
  return expireDue(deps, {
    noun: 'approval request',
    listDue: listDueRequests,
    lock: lockRequest,
    async expire(trx, request, now) {
      if (request.status !== 'pending') return
      await resolveRequest(trx, request, { event: 'expired', actorId: null, now })
    },
  })
}
