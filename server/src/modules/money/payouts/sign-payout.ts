import { sql } from 'kysely'
import type { ByMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { signedTokensPerPayoutMax } from '../../../lib/limits.ts'
import { type PlannedPayout, planPayout } from '../../../lib/signed-payout.ts'
import { type Vote, voteFormat } from '../../../lib/signed-vote.ts'
import { signatureRequired, type Verified, verifySigned } from '../../rules/signatures/take.ts'
import { hashPayload, type Payload } from '../transfers/payload.ts'
import { assertTerms, planTerms, type Signing, type Terms, toSignedPayload } from '../transfers/sign-order.ts'
import type { LoadedRow } from './load.ts'
import type { PayoutBody } from './payload.ts'

type Planned = ByMember & { rows: LoadedRow[] }

/** The orders that the initiator must sign as one, and their vote for them; null where orders are not signed. */
export async function planSignedPayout(
  db: Db | Trx,
  signing: Signing,
  { member, rows, now }: Planned,
): Promise<{ payoutId: string; orders: Payload[]; vote: Vote } | null> {
  if (member.vault.protection === 'off') return null
  const terms = await planTerms(db, signing, { member, now, kind: 'payout' })
  const orders = toOrders(terms, { member, rows, now })
  const hash = planOf(terms.id, orders).hash.toString('hex')
  const vote: Vote = { format: voteFormat, subject: 'payout', hash, decision: 'initiate', person: member.userId }
  return { payoutId: terms.id, orders, vote }
}

/** A payout that its initiator signed. */
export type SignedOrders = {
  payoutId: string
  payloads: Payload[]
  payloadHash: Buffer
  verified: Verified
  /** After it nothing of it is signed. */
  expiresAt: Date
}

/** The rows as the service resolves them now, with what the initiator signed for them. @throws as `readSigned` of an order */
export async function readSignedPayout(
  trx: Trx,
  signing: Signing,
  { signed }: PayoutBody,
  { member, rows, now }: Planned,
): Promise<SignedOrders | null> {
  if (member.vault.protection === 'off') {
    if (signed !== undefined) throw badRequest('signed', 'is for payouts in protected vaults')
    return null
  }
  if (signed === undefined) throw signatureRequired()
  const { payoutId, vote, ...rest } = signed
  const terms = { id: payoutId, ...rest }
  await assertTerms(trx, signing, terms, { member, now, kind: 'payout' })
  const payloads = toOrders(terms, { member, rows, now })
  const { hash: payloadHash } = planOf(payoutId, payloads)
  const expected = { subject: 'payout', decision: 'initiate', hash: payloadHash.toString('hex'), member } as const
  const verified = await verifySigned(trx, vote, expected, signing.publicOrigin())
  return { payoutId, payloads, payloadHash, verified, expiresAt: new Date(terms.expiresAt) }
}

/** The accounts that it spends from are locked: of two requests with one signed payout, the second sees the first. @throws 409 */
export async function assertPayoutNotPlaced(trx: Trx, vaultId: string, payoutId: string): Promise<void> {
  const { rows } = await sql`select from payouts where vault_id = ${vaultId} and id = ${payoutId}`.execute(trx)
  if (rows.length > 0) throw conflict('already_exists', 'This signed payout was placed already')
}

function toOrders(terms: Terms, { member, rows }: Planned): Payload[] {
  return rows.map(({ order }, i) => toSignedPayload({ ...terms, id: idOfRow(terms.id, i) }, member, order))
}

/** Follows from the id of the payout, in the order of the rows: as nobody chooses that one, nobody chooses these. */
function idOfRow(payoutId: string, index: number): string {
  const [prefix, rest] = [payoutId.slice(0, 14), payoutId.slice(16)]
  return prefix + index.toString(36).padStart(2, '0') + rest
}

/** What is signed of these orders, which are those of one payout. @throws 400 when they pay in more tokens than can be signed */
function planOf(payoutId: string, orders: Payload[]): PlannedPayout {
  const { vaultId, initiatorId, rulesVersion = 0, expiresAt = '' } = orders[0]!
  const paid = orders.map((order) => ({ ...order, order: hashPayload(order).toString('hex') }))
  const plan = planPayout({ payoutId, vaultId, initiatorId, rulesVersion, expiresAt }, paid)
  if (plan.document.sums.length > signedTokensPerPayoutMax)
    throw badRequest('rows', `must not pay in more than ${signedTokensPerPayoutMax} tokens`)
  return plan
}
