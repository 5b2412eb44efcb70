import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { GatedAction, PreparedStep } from '../votes/executor.ts'

/** One gated action by its own name, or a chain of them. */
export type RequestAction = GatedAction | 'composite'

/** The content to which votes and execution are bound: the prepared steps and the initiator. */
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
