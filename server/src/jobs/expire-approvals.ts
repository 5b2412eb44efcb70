import type { Deps } from '../deps.ts'
import { expireRequests } from '../modules/rules/approval-requests/expire.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 1_000

/** Ends approval requests whose time is over. */
export function startApprovalExpiry(deps: Deps): () => Promise<void> {
  return repeat(deps, 'expire-approvals', pauseMilliseconds, () => expireRequests(deps))
}
