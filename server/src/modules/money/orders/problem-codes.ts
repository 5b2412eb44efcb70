import type { Reason } from '../../../lib/reasons.ts'

/** For these an order is refused, in this order; each is the reason of the refusal. */
export const refusals = [
  'archived',
  'disabled',
  'held',
  'address_exposed',
  'blocked_by_policy',
  'no_policy_allows',
  'insufficient_funds',
  'insufficient_gas',
  'quorum_unreachable',
] as const satisfies readonly Reason[]

/** With these an order is placed, and its delivery would probably fail or wait. */
export const obstacles = ['above_max_fee', 'wallet_service_failed', 'wallet_service_silent'] as const

export type ProblemCode = (typeof refusals | typeof obstacles)[number]

/** Every problem that a preview can name. */
export const problemCodes: readonly ProblemCode[] = [...refusals, ...obstacles]
