import type { Deps } from '../../../deps.ts'
import { expireDue } from '../../rules/votes/expire.ts'
import { listDueApprovals, lockTransfer } from './queries.ts'
import { expireTransfer } from './vote.ts'

/** Rejects the transfers that were not approved in time and releases their funds. */
export function expireTransfers(deps: Deps): Promise<void> {
  return expireDue(deps, {
    noun: 'transfer',
    listDue: listDueApprovals,
    lock: lockTransfer,
    expire: (trx, transfer, now) => expireTransfer(trx, deps.log, transfer, now),
  })
}
