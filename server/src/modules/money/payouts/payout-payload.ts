import type { ByMember, Member } from '../../../access/caller.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { badRequest } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { signedTokensPerPayoutMax } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { planPayout } from '../../../lib/signed-payout.ts'
import { hashPayload, toPayload } from '../orders/order-payload.ts'
import type { Payload } from '../orders/payload-schema.ts'
import { type Terms, toSignedPayload } from '../orders/sign-order.ts'
import type { LoadedRow } from './load.ts'

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

/** The orders of the rows of a payout, and the hash of all of them that votes are bound to. */
export type PlannedOrders = { payoutId: string; payloads: Payload[]; hash: Buffer }

/** A payout of a vault where orders are not signed. */
export function planUnsigned(rows: LoadedRow[], { member, now }: ByMember): PlannedOrders {
  const payoutId = newId(now)
  const payloads = rows.map(({ order }) => toPayload(newId(now), member, order))
  const hashed = rows.map(({ body: { externalId } }, i) => ({
    externalId,
    transferId: payloads[i]!.transferId,
    payloadHash: hashPayload(payloads[i]!).toString('hex'),
  }))
  const by = { vaultId: member.vault.id, initiatorId: member.userId }
  return { payoutId, payloads, hash: hashPayout({ payoutId, ...by, rows: hashed }) }
}

/** What is signed of a payout with these terms. @throws 400 when it pays in more tokens than can be signed */
export const planOf =
  (member: Member, rows: LoadedRow[]) =>
  (terms: Terms): PlannedOrders => {
    const { id: payoutId, expiresAt, rulesVersion } = terms
    const payloads = rows.map(({ order }, i) => toSignedPayload({ ...terms, id: idOfRow(payoutId, i) }, member, order))
    const paid = payloads.map((payload) => ({ ...payload, order: hashPayload(payload).toString('hex') }))
    const by = { vaultId: member.vault.id, initiatorId: member.userId }
    const { document, hash } = planPayout({ payoutId, ...by, rulesVersion, expiresAt }, paid)
    if (document.sums.length > signedTokensPerPayoutMax)
      throw badRequest('rows', `must not pay in more than ${signedTokensPerPayoutMax} tokens`)
    return { payoutId, payloads, hash }
  }

/** Follows from the id of the payout, in the order of the rows: as nobody chooses that one, nobody chooses these. */
function idOfRow(payoutId: string, index: number): string {
  const [prefix, rest] = [payoutId.slice(0, 14), payoutId.slice(16)]
  return prefix + index.toString(36).padStart(2, '0') + rest
}
