import type { Static } from 'typebox'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { PayoutOrder } from './schema.ts'

export type PayoutBody = Static<typeof PayoutOrder>
export type RowBody = PayoutBody['rows'][number]

/** What votes on a payout are bound to; the rows in their order, with the hashes of the orders of their transfers. */
export type PayoutPayload = {
  payoutId: string
  vaultId: string
  initiatorId: string
  /** `payloadHash` is SHA-256 in hex. */
  rows: { externalId: string; transferId: string; payloadHash: string }[]
}

export function hashPayout(payload: PayoutPayload): Buffer {
  return sha256(canonicalJson(payload))
}
