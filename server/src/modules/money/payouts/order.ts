import { visibleScopeOf } from '../../../access/address-scope.ts'
import { type ByMember, byMember, type Member } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { insertRows } from '../../../db/insert-rows.ts'
import { onViolation } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Refusal } from '../../../http/mutate.ts'
import { type AppError, conflict } from '../../../lib/errors.ts'
import { audit } from '../../record/audit/record.ts'
import { mailsToVoters } from '../../record/notifications/notification-rows.ts'
import { type BatchDecision, decideBatch, lockBatch } from '../../rules/decisions/decide-batch.ts'
import { newestNumber } from '../../rules/rules-versions/versions.ts'
import { type CancelSignature, keepSigned, type Verified } from '../../rules/signatures/take.ts'
import { approvalEnd, type OpenedApproval, openApproval, unasked } from '../../rules/votes/open.ts'
import { countedOf, lockAccountsOf } from '../orders/gather.ts'
import type { Order } from '../orders/load-order.ts'
import type { Lacking } from '../orders/objections.ts'
import { assertNotPlaced, readSigned, type Signing } from '../orders/sign-order.ts'
import { insertOrders } from '../transfers/place.ts'
import type { PayoutRequestRecord } from './compare-payout.ts'
import { type Leaving, leaveOut, lockReplaced } from './leave-out.ts'
import { factsOfRows, objectionsToPayout, type RaisedByRows } from './payout-objections.ts'
import {
  atRow,
  type LoadedRow,
  loadRows,
  type PlannedOrders,
  planOf,
  planUnsigned,
  questionOf,
  refusalOf,
  sumsOf,
  toOrderBody,
} from './payout-rows.ts'
import { cancelReplaced } from './payout-votes.ts'
import { listHoldsOnRows, listUsedIds } from './queries.ts'
import type { PayoutBody } from './schema.ts'

type Ordering = {
  member: Member
  now: Date
  signing: Signing
  /** The scores of the screening for the rows, if policies ask for them. */
  riskScores: readonly (string | undefined)[]
  log: Deps['log']
  /** The signature that ends the votes on the payout that is replaced, if there is one. */
  cancelSignature: CancelSignature
  /** The coin that the address of each row lacks for the fees, as the wallet service estimated before the transaction. */
  lacking: (Lacking | null)[]
}

/**
 * Decides on all rows and, unless they are refused, reserves their funds in `trx`: either for all rows or for none. Returns the
 * id of the payout. A refusal by the policies writes an audit record.
 *
 * @throws as `loadRows`; 409 for an external id that was used before, insufficient funds or gas, an archived recipient, a
 * disabled token or a quorum that cannot be reached, naming the rows; as `readSigned`
 */
export async function orderPayout(
  trx: Trx,
  body: PayoutBody,
  { member, now, signing, riskScores, lacking, log, cancelSignature }: Ordering,
): Promise<{ payoutId: string } | Refusal> {
  const scope = visibleScopeOf(member)
  const { vaultId } = scope
  const found = body.replaces === undefined ? null : await lockReplaced(trx, log, body.replaces, { member, now })
  if (found !== null && 'refusal' in found) return found
  const rows = await loadRows(trx, body, { scope, now, locksHolds: true, riskScores })
  const leaving = found === null ? null : leaveOut(found.replaced, rows)
  const signedPayout = body.signed && { ...body.signed, id: body.signed.payoutId }
  const rulesVersion = signedPayout === undefined ? 0 : await newestNumber(trx, vaultId)
  const planning = { kind: 'payout', member, now, rulesVersion, plan: planOf(member, rows) } as const
  const signed = await readSigned(trx, signing, signedPayout, planning)
  await assertUnused(trx, member, rows, leaving)
  const candidatesQuestion = questionOf(rows, vaultId, member, now)
  const candidates = await lockBatch(trx, candidatesQuestion)
  const sources = rows.map(({ order }) => order.source)
  const unreservedOf = await lockAccountsOf(trx, vaultId, sources)
  const releasedOf = (source: Order['source']) => leaving?.releasedOf(source) ?? 0n
  const availableOf = (source: Order['source']) => unreservedOf(source) + releasedOf(source)
  const ofPolicies = (source: Order['source']) => countedOf(unreservedOf(source), source) + releasedOf(source)
  if (signed !== null) await assertNotPlaced(trx, 'payout', vaultId, signed.payoutId)
  const holds = await listHoldsOnRows(trx, { vaultId, initiatorId: member.userId }, rows)
  const question = { ...questionOf(rows, vaultId, member, now, ofPolicies), withoutPayout: leaving?.payoutId ?? null }
  const decision = await decideBatch(trx, candidates, question, { areStored: false })
  const gathered = { initiatorId: member.userId, holds, availableOf, decision, lacking, shortages: [] }
  const [raised] = objectionsToPayout(rows, factsOfRows(rows, gathered), 'order')
  if (raised !== undefined && !raised.objection.isRecorded) throw raised.refusal
  if (raised !== undefined) return refuseByPolicies(trx, rows, { member, now, decision, raised })

  const planned = signed ?? planUnsigned(rows, { member, now })
  const { payoutId } = planned
  const { requirements } = decision
  const opened = { vaultId, subjectId: payoutId, initiatorId: member.userId, requirements, now }
  const approval = requirements.length === 0 ? unasked : await openApproval(trx, opened)
  const { shortages } = approval
  const [raisedByVoters] = objectionsToPayout(rows, factsOfRows(rows, { ...gathered, shortages }), 'order')
  if (raisedByVoters !== undefined) throw raisedByVoters.refusal
  const expiresAt = decision.effect === 'approval' ? approvalEnd(now, signing.config, signedPayout?.expiresAt) : null
  if (found !== null && leaving !== null) {
    const replacement = { replacedBy: payoutId, leftOut: leaving.leftOut.map(({ row }) => row) }
    await cancelReplaced(trx, found.payout, { member, now, replacement, signature: cancelSignature })
  }
  const replaces = leaving === null ? null : { payoutId: leaving.payoutId, leftOut: leaving.leftOut }
  const accepted = { ...planned, member, now, decision, expiresAt, verified: signed?.verified, approval, replaces }
  await writePayout(trx, body, rows, accepted)
  return { payoutId }
}

/** Records a payout that the policies refuse. */
async function refuseByPolicies(
  trx: Trx,
  rows: LoadedRow[],
  { member, now, decision, raised }: ByMember & { decision: BatchDecision; raised: RaisedByRows },
): Promise<Refusal> {
  const { view, order: row } = decision.decisive
  const { body: deciding, order } = rows[row]!
  const { refusal, objection } = raised
  await audit(
    trx,
    byMember({ member, now }),
    objection.reason === 'blocked_by_policy' ? 'payout.blocked' : 'payout.denied',
    { type: 'address', id: order.source.address_id },
    {
      rowsCount: rows.length,
      sums: sumsOf(rows),
      row: row + 1,
      externalId: deciding.externalId,
      view,
      decisionPolicyCode: decision.decisionPolicy?.code ?? null,
      message: refusal.message,
    },
  )
  return { refusal }
}

/** @throws 409 naming the rows whose external id was used before, and the earlier payout if the member may see it */
async function assertUnused(trx: Trx, member: Member, rows: LoadedRow[], leaving: Leaving | null): Promise<void> {
  const used = await listUsedIds(trx, member, rows, leaving)
  if (used.length === 0) return
  const faults = rows.flatMap(({ body }, i) => {
    const earlier = used.find((row) => row.external_id === body.externalId)
    if (earlier === undefined) return []
    const place = earlier.visible ? `row ${earlier.payout_row} of the payout ${earlier.payout_id}` : 'another payout'
    return [atRow(i, 'externalId', `was used by ${place}`)]
  })
  throw refusalOf('already_exists', 'An external id was used before', faults)
}

type Accepted = PlannedOrders &
  ByMember & {
    decision: BatchDecision
    approval: OpenedApproval
    expiresAt: Date | null
    /** The order that the initiator signed; left out where orders are not signed. */
    verified: Verified | undefined
    replaces: NonNullable<PayoutRequestRecord['replaces']> | null
  }

async function writePayout(trx: Trx, body: PayoutBody, rows: LoadedRow[], accepted: Accepted): Promise<void> {
  const { member, now, decision, expiresAt, verified, payoutId, payloads, hashes, hash } = accepted
  const vaultId = member.vault.id
  const initiatorId = member.userId
  const { requirements, decisionPolicy } = decision
  const { snapshot, approvers, parts } = accepted.approval
  const bypassed = requirements
    .filter((requirement) => requirement.bypassed)
    .map((requirement) => requirement.policyCode)
  const record: PayoutRequestRecord = {
    status: expiresAt === null ? 'approved' : 'awaiting_approval',
    payloadHash: hash.toString('hex'),
    requirements: snapshot,
    name: body.name ?? null,
    paymentPurpose: body.paymentPurpose ?? null,
    rowsCount: rows.length,
    sums: sumsOf(rows),
    bypassed,
    ...(accepted.replaces === null ? {} : { replaces: accepted.replaces }),
    ...(verified === undefined ? {} : { signedVote: verified.hash }),
  }
  const subject = { vaultId, subjectType: 'payout', subjectId: payoutId, initiatorId } as const
  const mails = expiresAt === null ? [] : [mailsToVoters(trx, subject, approvers, now)]
  await insertRows(trx, { payouts: [toPayoutRow(payoutId, record, accepted)] }, [...parts, ...mails])
  const approvalThreshold = thresholdOf(decision)
  const place = { id: payoutId, payloadHash: record.payloadHash, bypassed, approvalThreshold }
  const orders = rows.map(({ body: row, order }, i) => {
    const terms = { order, payload: payloads[i]!, payloadHash: hashes[i]! }
    const ofRow = { ...terms, decision: decision.each[i]!, metadata: toOrderBody(row).metadata }
    const payout = { ...place, row: i + 1, externalId: row.externalId }
    return { ...ofRow, category: null, voters: [], payout, expiresAt, now }
  })
  await insertOrders(trx, orders, now).catch(onViolation('transfers_reference', usedMeanwhile))
  await audit(
    trx,
    byMember({ member, now }),
    'payout.requested',
    { type: 'payout', id: payoutId },
    { ...record, decisionPolicyCode: decisionPolicy?.code ?? null },
  )
  if (verified !== undefined) await keepSigned(trx, verified, { vaultId, subjectId: payoutId, now })
}

function toPayoutRow(id: string, record: PayoutRequestRecord, { member, now, decision, expiresAt }: Accepted) {
  const { effect, decisionPolicy, requirements, decisive } = decision
  const { trace, policies, facts } = decisive.decision
  return {
    vault_id: member.vault.id,
    id,
    name: record.name,
    payment_purpose: record.paymentPurpose,
    initiator_id: member.userId,
    status: record.status,
    rows_count: record.rowsCount,
    sums: record.sums,
    payload_hash: Buffer.from(record.payloadHash, 'hex'),
    replaces: record.replaces ?? null,
    decision: {
      effect,
      decisionPolicy,
      requirements,
      view: decisive.view,
      row: decisive.order + 1,
      trace,
      policies,
      facts,
    },
    decision_policy_id: decisionPolicy?.id ?? null,
    decision_policy_code: decisionPolicy?.code ?? null,
    decision_policy_name: decisionPolicy?.name ?? null,
    approval_threshold: thresholdOf(decision),
    expires_at: expiresAt,
    resolved_at: expiresAt === null ? now : null,
    created_at: now,
    updated_at: now,
  }
}

const thresholdOf = ({ requirements, decisionPolicy }: BatchDecision) =>
  requirements.find((requirement) => requirement.policyId === decisionPolicy?.id)?.threshold ?? 0

const usedMeanwhile = (): AppError =>
  conflict('already_exists', 'An external id was used before', 'It was used just now')
