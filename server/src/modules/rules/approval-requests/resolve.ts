import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { closeVoting } from '../votes/vote.ts'
import type { StepResult } from './apply.ts'
import { nextStatus, type RequestEvent } from './lifecycle.ts'
import type { LockedRequest } from './queries.ts'

type Resolution = {
  event: RequestEvent
  /** null: the service itself. */
  actorId: string | null
  now: Date
  results?: StepResult[]
  failureReason?: string
}

/**
 * Resolves a locked request: status, audit record and notifications.
 * @throws 409 when it is resolved already
 */
export async function resolveRequest(trx: Trx, request: LockedRequest, resolution: Resolution): Promise<void> {
  const { event, actorId, now, results = null, failureReason = null } = resolution
  const { vault_id: vaultId, id, action, payload_hash } = request
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
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .where('status', '=', request.status)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw conflict('The request was resolved by someone else')
  const details = { action, payloadHash: payload_hash.toString('hex'), results, failureReason }
  await audit(trx, { vaultId, actorId, now }, `approval_request.${to}`, { type: 'approval_request', id }, details)
  await closeVoting(trx, 'approval_request', request, actorId, now)
}
