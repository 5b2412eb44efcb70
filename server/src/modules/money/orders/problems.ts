import type { Decision } from '../../rules/decisions/decision.ts'
import { type ActiveHold, detailsOf, reasonOf } from '../../rules/holds/active.ts'
import { type Electorate, findShortages, nobody } from '../../rules/votes/open.ts'
import { type CoinAccount, missingGas, sentenceOfMissing } from './ask-services.ts'
import { findArchivedRecipient, type Order } from './load-order.ts'
import { type ProblemCode, refusals } from './problem-codes.ts'

export type Problem = { code: ProblemCode; message: string; blocks: boolean }

/** The wallet service's estimate in raw units of the coin; a failure to give one; null: it was not asked. */
export type FeeEstimate = { fee: bigint } | { failure: 'wallet_service_failed' | 'wallet_service_silent' } | null

/** What a preview looks at. */
export type Prospect = {
  order: Order
  hold: ActiveHold | null
  decision: Decision
  electorates: ReadonlyMap<string, Electorate>
  coin: CoinAccount | null
  estimate: FeeEstimate
  /** Whether an order is refused whose address cannot pay the fee. */
  checksGas: boolean
}

/** What an order would leave available, in raw units, below zero when it does not suffice; null when that is unknown. */
export function remaindersOf({ order: { source, amount }, coin, estimate }: Prospect): {
  token: bigint
  coin: bigint | null
} {
  const token = BigInt(source.available ?? '0') - amount
  if (coin === null || estimate === null || 'failure' in estimate) return { token, coin: null }
  const isCoin = coin.id === source.token_id
  return { token, coin: (isCoin ? token : BigInt(coin.available)) - estimate.fee }
}

/** The problems that the order would meet now: first those for which it is refused, in the order of the refusals. */
export function findProblems(prospect: Prospect): Problem[] {
  const { order, hold, decision, electorates } = prospect
  const { source } = order
  const problems: Problem[] = []
  const blocks = (code: ProblemCode) =>
    refusals.some((refusal) => refusal === code) && (code !== 'insufficient_gas' || prospect.checksGas)
  const name = (code: ProblemCode, message: string) => problems.push({ code, message, blocks: blocks(code) })
  const archived = findArchivedRecipient(order)
  if (archived !== null) name('archived', `toAddress belongs to ${archived.name}, which is archived`)
  if (source.token_enabled !== true) name('disabled', `The token ${source.token_code} is disabled`)
  if (hold !== null) name(reasonOf(hold), detailsOf(hold))
  if (decision.effect === 'block')
    name('blocked_by_policy', decision.blockReason ?? 'A policy of the vault blocks this transfer')
  if (decision.effect === 'deny') name('no_policy_allows', 'No policy allows this transfer')
  const rest = remaindersOf(prospect)
  if (rest.token < 0n)
    name('insufficient_funds', `The address has less ${source.token_code} available than the transfer needs`)
  // An amount of the coin that is too high already is insufficient_funds, which says more.
  const { coin, estimate } = prospect
  if (rest.token >= 0n && coin !== null && estimate !== null && 'fee' in estimate) {
    const missing = missingGas({ fee: estimate.fee, coin }, source.token_id, order.amount)
    if (missing > 0n) name('insufficient_gas', sentenceOfMissing(missing, coin))
  }
  for (const shortage of findShortages(decision.requirements, ({ policyId }) => electorates.get(policyId) ?? nobody))
    name('quorum_unreachable', shortage)
  nameDeliveryProblems(prospect, name)
  return problems
}

function nameDeliveryProblems(
  { order, coin, estimate }: Prospect,
  name: (code: ProblemCode, message: string) => void,
): void {
  if (estimate !== null && 'failure' in estimate) {
    const isSilent = estimate.failure === 'wallet_service_silent'
    name(estimate.failure, `The wallet service ${isSilent ? 'does not answer' : 'gives no estimate of the fee'}`)
  }
  if (coin !== null && estimate !== null && 'fee' in estimate && order.maxFee !== undefined) {
    const isAbove = estimate.fee > order.maxFee.raw
    if (isAbove)
      name('above_max_fee', 'The network asks for more than maxFee now; the transfer would wait until it falls')
  }
}
