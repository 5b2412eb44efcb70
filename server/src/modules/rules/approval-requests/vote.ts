import type { ByMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { conflict } from '../../../lib/errors.ts'
import { notifyOfStop } from '../../record/notifications/write.ts'
import { findInitiator } from '../policies/queries.ts'
import type { Executors, StepContext } from '../votes/executor.ts'
import { type Approval, assertMayCancel, lockVisible, type VotableSubject } from '../votes/subject.ts'
import { tryApplySteps } from './apply.ts'
import { differenceFromRecord } from './compare-record.ts'
import { decideSteps } from './decide-steps.ts'
import { isRequestVisible, type LockedRequest, listStoredRequests, lockRequest, type StoredRequest } from './queries.ts'
import { resolveRequest } from './resolve.ts'

/** How an approved request is carried out; `fetched` is the result of `prefetching`. */
type Execution = { executors: Executors; fetched: unknown[] | null }

const lockable = { title: 'Approval request', isVisible: isRequestVisible, lock: lockRequest }

/** Approval requests as a votable subject. */
export function votableRequests(
  log: Deps['log'],
  execution: Execution,
): VotableSubject<LockedRequest, StoredRequest, null> {
  return {
    type: 'approval_request',
    noun: 'request',
    ...lockable,
    assertOpen({ status, expires_at }, now) {
      if (status !== 'pending') throw conflict(`The request is ${status} already`)
      if (expires_at <= now) throw conflict('The time to vote on this request has expired')
    },
    listStored: listStoredRequests,
    compare(stored, records) {
      const difference = differenceFromRecord(stored, records)
      return difference === null ? { recorded: null } : { difference }
    },
    async stop(trx, request, failureReason, now) {
      const { vault_id: vaultId, id } = request
      log.error({ requestId: id, vaultId, reason: failureReason }, 'approval request stopped')
      await resolveRequest(trx, request, { event: 'applyFailed', actorId: null, now, failureReason })
      await notifyOfStop(trx, { vaultId, subjectType: 'approval_request', subjectId: id }, now)
      return conflict('The request failed because it differs from its audit record', failureReason)
    },
    toVoteRecord: (decision) => ({ action: 'approval_request.voted', details: { decision } }),
    onApproved: (trx, request, approval) => execute(trx, request, approval, execution),
    onRejected: (trx, request, { member, now }) =>
      resolveRequest(trx, request, { event: 'rejected', actorId: member.userId, now }),
  }
}

/**
 * Carries out the request in this transaction. If that fails, only the vote is kept, and the request ends as failed or stale.
 * @throws 409 when it is no longer permitted; PrefetchNeededError
 */
async function execute(
  trx: Trx,
  request: LockedRequest,
  { member, now, requirements }: Approval<null>,
  { executors, fetched }: Execution,
): Promise<Refusal | null> {
  const context: StepContext = { vaultId: request.vault_id, initiatorId: request.initiator_id, now }
  const isWaived = requirements.some(({ bypassed }) => bypassed)
  await assertMayGoOn(trx, context, request, { isWaived, executors })
  const { action, steps } = request
  const attempt = await tryApplySteps(trx, { context, action, steps, executors, fetched })
  const actorId = member.userId
  if ('results' in attempt) {
    await resolveRequest(trx, request, { event: 'approved', actorId, now, results: attempt.results })
    return null
  }
  const { event, reason: failureReason } = attempt
  await resolveRequest(trx, request, { event, actorId, now, failureReason })
  return {
    refusal: conflict('Your vote was recorded, but the request could not be applied and had no effect', failureReason),
  }
}

/** The last vote checks again what may have changed since the request; policies can only restrict it further. */
async function assertMayGoOn(
  trx: Trx,
  context: StepContext,
  { steps }: LockedRequest,
  { isWaived, executors }: { isWaived: boolean; executors: Executors },
): Promise<void> {
  const initiator = await findInitiator(trx, context.vaultId, context.initiatorId)
  if (initiator === null) throw conflict('The initiator is disabled or no longer a member of the vault')
  if (isWaived && !initiator.isAdmin) {
    throw conflict('A vote was waived for an administrator, and the initiator no longer is one')
  }
  const decisions = await decideSteps(trx, context, initiator, steps, executors)
  const block = decisions.find(({ effect }) => effect === 'block')
  if (block !== undefined) throw conflict('A policy blocks this now', block.blockReason ?? undefined)
}

/** Cancels a request, by its initiator or an administrator. @throws 403, 404, 409 when it waits no longer */
export async function cancelRequest(trx: Trx, id: string, { member, now }: ByMember): Promise<void> {
  const request = await lockVisible(trx, lockable, member, id)
  assertMayCancel('request', request, member)
  await resolveRequest(trx, request, { event: 'cancelled', actorId: member.userId, now })
}
