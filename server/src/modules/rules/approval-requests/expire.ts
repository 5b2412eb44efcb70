import type { Deps } from '../../../deps.ts'
import { expireDue } from '../votes/expire.ts'
import { listDueRequests, lockRequest } from './queries.ts'
import { resolveRequest } from './resolve.ts'

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
