import type { Deps } from '../deps.ts'
import { sealAuditRecords } from '../modules/record/audit/seal.ts'
import { repeat } from './repeat.ts'

const pauseMilliseconds = 2_000

/** Chains committed audit records, within seconds and outside the path of any write. */
export function startSealing(deps: Deps): () => Promise<void> {
  return repeat(deps, 'seal-audit', pauseMilliseconds, () => sealAuditRecords(deps))
}
