import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { GatedAction, PreparedStep } from '../votes/executor.ts'

/** One gated action by its own name, or a chain of them. */
export type RequestAction = GatedAction | 'composite'

/** What votes and the doing are bound to: the steps as they were found possible, and whose they are. */
export type BoundPayload = {
  requestId: string
  vaultId: string
  initiatorId: string
  action: string
  steps: PreparedStep[]
}

/** SHA-256 over the canonical JSON of the payload. */
export function hashPayload(payload: BoundPayload): Buffer {
  return sha256(canonicalJson(payload))
}
