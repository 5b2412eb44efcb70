import { fromRaw, toRaw } from '../signing/amounts.ts'
import type { Json } from './evidence.ts'
import type { History } from './history.ts'

/** The value that the records give a field. */
export interface Claim {
  value: unknown
  /**
   * True if another value contradicts the records. False if the field may have changed since, so that another value is
   * only not proven.
   */
  isFinal: boolean
}

/** Sources of claims. `decision` is null if its hash is not on record. */
export interface Sources {
  history: History
  /** The facts that the policies decided on, if the record has their hash. */
  facts: Json | null
  decision: Json | null
  transfer: Json
}

/**
 * Returns the claims of the sealed records about the fields of `transfer`, by their dotted paths. The file does not
 * prove a field without a claim: a display name, or a present state.
 */
export function claimsOf(sources: Sources): Map<string, Claim> {
  const claims = new Map<string, Claim>()
  const set = (entries: Json, isFinal: boolean) => {
    for (const [path, value] of Object.entries(entries)) if (value !== undefined) claims.set(path, { value, isFinal })
  }
  set(orderClaims(sources), true)
  set(stateClaims(sources), true)
  set(valueClaims(sources), true)
  set(decisionClaims(sources), true)
  set(voteClaims(sources), true)
  set(changingClaims(sources), false)
  return claims
}

/** Returns the claims about the order, at every place where the transfer repeats it. */
function orderClaims({ history: { order, requested }, facts, transfer }: Sources): Json {
  const payload = (order.payload ?? {}) as Json
  const payout = order.payout as Json | undefined
  const { transferId, vaultId, fromAddressId, initiatorId, fromAddress, network } = payload
  return {
    ...leavesUnder('payload', payload),
    ...{
      id: transferId,
      vaultId,
      fromAddressId,
      initiatorId,
      network,
      'vault.id': vaultId,
      'initiator.id': initiatorId,
    },
    toAddress: payload.toAddress,
    amount: payload.amount,
    amountDecimal: facts?.amount,
    tokenId: payload.tokenId,
    contractAddress: payload.contractAddress,
    'fromAddress.id': fromAddressId,
    'fromAddress.address': fromAddress,
    'fromAddress.derivationPath': payload.derivationPath,
    'fromAddress.network': network,
    payloadHash: order.payloadHash,
    createdAt: requested.createdAt,
    payoutId: payout?.id ?? null,
    externalId: payout?.externalId ?? null,
    expiresAt: order.expiresAt,
    ...(order.counterpartyId === null ? { counterparty: null } : { 'counterparty.id': order.counterpartyId }),
    ...(transfer.initiator === null ? { initiator: undefined } : {}),
  }
}

/** Returns the claims about the status of the transfer and its outcome on chain. */
function stateClaims({ history: { status, last, txHashes }, transfer }: Sources): Json {
  const isOver = status !== null && ['confirmed', 'failed', 'rejected', 'cancelled'].includes(status)
  const details = isOver ? (last?.details ?? {}) : {}
  const shown = Array.isArray(transfer.txHashes) ? transfer.txHashes : []
  const known = shown.map((hash, index) => [`txHashes.${index}`, txHashes.has(hash) ? hash : isOver ? null : undefined])
  return {
    status: status ?? 'unknown',
    confirmedAt: status === 'confirmed' ? last?.createdAt : null,
    txHash: status === 'confirmed' ? details.txHash : undefined,
    fee: details.fee,
    failureReason: isOver ? (details.reason ?? null) : null,
    ...(Object.fromEntries(known) as Json),
  }
}

/** Returns the claims about the rate of the valuation, and the value in USD. */
function valueClaims({ history: { rate, metadata }, facts }: Sources): Json {
  const amount = facts?.amount
  const tags = Array.isArray(metadata?.tags) ? metadata.tags : []
  return {
    ...(metadata === undefined
      ? {}
      : { 'metadata.paymentPurpose': metadata.paymentPurpose, 'metadata.note': metadata.note }),
    'metadata.category': metadata?.category,
    ...(metadata === undefined ? {} : leavesUnder('metadata.tags', tags)),
    ...(rate === undefined ? {} : { usdRate: rate?.usdRate ?? null, usdRateAsOf: rate?.usdRateAsOf ?? null }),
    ...(rate === undefined ? {} : { usdRateSource: rate?.usdRateSource ?? null }),
    usdValue:
      rate === null
        ? null
        : rate !== undefined && typeof amount === 'string'
          ? usdValueOf(amount, String(rate.usdRate))
          : undefined,
  }
}

/** Decimal places of the product of an amount and a rate. */
const valueDecimals = 54

/** Returns USD with two decimals, rounded half to even, as the service values operations. */
function usdValueOf(amount: string, usdRate: string): string | undefined {
  try {
    const product = toRaw(amount, 36) * toRaw(usdRate, 18)
    const unit = 10n ** BigInt(valueDecimals - 2)
    const [whole, rest] = [product / unit, product % unit]
    const isUp = rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n)
    const cents = fromRaw(isUp ? whole + 1n : whole, 2)
    const [dollars, fraction = ''] = cents.split('.')
    return `${dollars}.${fraction.padEnd(2, '0')}`
  } catch {
    return undefined
  }
}

/** Returns the claims about the deciding policy, which the recorded hash of the decision proves. */
function decisionClaims({ decision, history: { order } }: Sources): Json {
  if (decision === null) return { decisionPolicyCode: order.decisionPolicyCode }
  const policy = (decision.decisionPolicy ?? null) as Json | null
  const policies = Array.isArray(decision.policies) ? (decision.policies as Json[]) : []
  return {
    decisionPolicyId: policy?.id ?? null,
    decisionPolicyCode: policy?.code ?? null,
    decisionPolicyName: policy?.name ?? null,
    rulesVersion: policies.map(({ rulesVersion }) => rulesVersion).find((version) => version) ?? null,
  }
}

/** Returns the claims about the requirements, and the vote of each approver with its time and comment. */
function voteClaims({ history: { requirements, votes }, decision, transfer }: Sources): Json {
  const claims: Json = {}
  const shownRequirements = list(transfer.approvalRequirements)
  for (const [index, shown] of shownRequirements.entries()) {
    const recorded = requirements.find(({ policyCode }) => policyCode === shown.policyCode)
    const at = `approvalRequirements.${index}`
    claims[`${at}.policyCode`] = recorded?.policyCode ?? null
    claims[`${at}.threshold`] = recorded?.threshold
    claims[`${at}.bypassed`] = recorded?.bypassed
    const decided = list(decision?.requirements).find(({ policyCode }) => policyCode === shown.policyCode)
    claims[`${at}.policyId`] = decided?.policyId
  }
  const voters = new Set(requirements.flatMap((requirement) => requirement.voters))
  const seen = new Set<unknown>()
  for (const [index, { userId }] of list(transfer.approvers).entries()) {
    const vote = votes.find(({ person }) => person === userId)
    const at = `approvers.${index}`
    claims[`${at}.userId`] = voters.has(String(userId)) && !seen.has(userId) ? userId : null
    claims[`${at}.user.id`] = userId
    claims[`${at}.decision`] = vote?.decision ?? null
    claims[`${at}.comment`] = vote?.comment ?? null
    claims[`${at}.votedAt`] = vote?.votedAt ?? null
    seen.add(userId)
  }
  return claims
}

/** Returns the claims about fields that may have changed since the transfer was ordered. */
function changingClaims({ facts, history: { requirements, votes }, decision, transfer }: Sources): Json {
  const token = facts?.token as Json | undefined
  const counterparty = facts?.counterparty as Json | null | undefined
  const claims: Json = {
    asset: token?.code,
    flowType:
      facts?.destinationType === undefined ? undefined : facts.destinationType === 'internal' ? 'internal' : 'external',
    'counterparty.kind': counterparty?.kind,
    approvalThreshold: list(decision?.requirements).find(
      ({ policyId }) => policyId === (decision?.decisionPolicy as Json | null)?.id,
    )?.threshold,
  }
  for (const [index, shown] of list(transfer.approvalRequirements).entries()) {
    const recorded = requirements.find(({ policyCode }) => policyCode === shown.policyCode)
    const approvals = votes.filter(
      ({ person, decision: cast }) => cast === 'approve' && recorded?.voters.includes(String(person)),
    )
    claims[`approvalRequirements.${index}.approvalsCount`] = approvals.length
  }
  return claims
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** Returns the leaves of a value, by their dotted paths below a name. */
export function leavesUnder(name: string, value: unknown): Json {
  if (typeof value !== 'object' || value === null) return { [name]: value }
  const members = Object.entries(value)
  if (members.length === 0) return { [name]: value }
  return Object.assign({}, ...members.map(([key, member]) => leavesUnder(name === '' ? key : `${name}.${key}`, member)))
}
