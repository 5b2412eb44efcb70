import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { defaultFeeLevel } from '../../../lib/fee-levels.ts'
import { formatDecimal, usdValueOf } from '../../../lib/money.ts'
import { findRecipientSigns, type RecipientSigns } from '../../address-book/recipients/queries.ts'
import { isForbiddenWallet, isSilence } from '../../registry/wallet-service/call.ts'
import { decideBy } from '../../rules/decisions/decide.ts'
import type { Decision } from '../../rules/decisions/decision.ts'
import { toPolicySimulation } from '../../rules/decisions/present.ts'
import { type Electorate, findElectorates, findShortages, nobody } from '../../rules/votes/open.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { toAssetAmount } from '../ledger/present.ts'
import { type CoinAccount, lackingOf, listCoins, scoreOrder, toFeeQuestion } from './ask-services.ts'
import { uncoveredOf } from './gather.ts'
import { factsOfNewOrder, findHoldOnOrder, loadOrder, type Order } from './load-order.ts'
import { type FeeFacts, type FeeFailure, objectionsTo, type ProblemCode } from './objections.ts'
import type { OrderBody, TransferPreview } from './schema.ts'
import { planOf, planSigned } from './sign-order.ts'

/** Returns the outcome that an order would have now. It writes no row and takes no lock. @throws as `loadOrder` */
export async function previewTransfer(
  deps: Deps,
  body: OrderBody,
  { member, now }: ByMember,
): Promise<Static<typeof TransferPreview>> {
  const { db } = deps
  const scope = visibleScopeOf(member)
  const { vaultId } = scope
  const riskScore = await scoreOrder(deps, body, { member, now })
  const { order, question, candidates, rulesVersion } = await loadOrder(db, body, {
    scope,
    initiator: member,
    spends: true,
    riskScore,
    now,
  })
  const hold = await findHoldOnOrder(db, vaultId, order, member.userId)
  const decision = await decideBy(db, candidates, question)
  const { requirements } = decision
  const electorates = await findElectorates(db, { vaultId, initiatorId: member.userId, requirements })
  const signs = await findRecipientSigns(db, scope, order.to.key)
  const { address_id: addressId } = order.source
  const coin = (await listCoins(db, vaultId, [addressId])).get(addressId) ?? null
  const estimate = coin === null ? null : await estimateFee(deps, vaultId, order)
  const objections = objectionsTo('preview', {
    ...factsOfNewOrder(order),
    hold,
    initiatorId: member.userId,
    decision,
    uncovered: uncoveredOf(order, BigInt(order.source.available ?? '0')),
    fee: feeFactsOf(order, { coin, estimate, isChecked: deps.config.checksGas }),
    shortages: findShortages(requirements, ({ policyId }) => electorates.get(policyId) ?? nobody),
  })
  const problems = objections.map(({ reason, message, details, blocks }) => {
    return { code: reason as ProblemCode, message: details ?? message, blocks }
  })
  const preview = toPreview({ order, decision, electorates, coin, estimate, problems }, signs, member.readsAll)
  const planning = { member, now, kind: 'transfer', rulesVersion, plan: planOf(member, order) } as const
  const toSign = await planSigned(deps, planning)
  return toSign === null ? preview : { ...preview, order: toSign.payload, vote: toSign.vote }
}

/** The estimate of the wallet service in raw units of the coin, or its failure; null when it was not asked. */
type FeeEstimate = { fee: bigint } | { failure: FeeFailure } | null

function feeFactsOf(
  order: Order,
  { coin, estimate, isChecked }: { coin: CoinAccount | null; estimate: FeeEstimate; isChecked: boolean },
): FeeFacts {
  const failure = estimate !== null && 'failure' in estimate ? estimate.failure : null
  if (coin === null || estimate === null || 'failure' in estimate)
    return { lacking: null, isChecked, isAboveMax: false, failure }
  const isAboveMax = order.maxFee !== undefined && estimate.fee > order.maxFee.raw
  return { lacking: lackingOf(order, { fee: estimate.fee, coin }), isChecked, isAboveMax, failure }
}

/** Asks the wallet service for the fee. A failure is a value, because a preview must not fail for it. */
async function estimateFee(deps: Deps, vaultId: string, order: Order): Promise<FeeEstimate> {
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const { fee } = await wallet.estimateFee(toFeeQuestion(order))
    return { fee: BigInt(fee) }
  } catch (error) {
    deps.log.warn({ err: error }, 'no fee estimate')
    if (isForbiddenWallet(error)) return { failure: 'wallet_service_forbidden' }
    return { failure: isSilence(error) ? 'wallet_service_silent' : 'wallet_service_failed' }
  }
}

/** The facts that a preview shows. */
type Prospect = {
  order: Order
  decision: Decision
  electorates: ReadonlyMap<string, Electorate>
  coin: CoinAccount | null
  estimate: FeeEstimate
  problems: Static<typeof TransferPreview>['problems']
}

/** Returns the amounts that an order would leave available, in raw units: negative if too small, null if unknown. */
function remaindersOf({ order: { source, amount }, coin, estimate }: Prospect): {
  token: bigint
  coin: bigint | null
} {
  const token = BigInt(source.available ?? '0') - amount
  if (coin === null || estimate === null || 'failure' in estimate) return { token, coin: null }
  const isCoin = coin.id === source.token_id
  return { token, coin: (isCoin ? token : BigInt(coin.available)) - estimate.fee }
}

function toPreview(
  prospect: Prospect,
  { isLookAlike, isFirstPayment }: RecipientSigns,
  readsAll: boolean,
): Static<typeof TransferPreview> {
  const { order, decision: decided, electorates, coin, estimate, problems } = prospect
  const { source, amount } = order
  const { trace, requirements, ...decision } = toPolicySimulation(decided, { readsAll, isInitiator: true })
  const available = source.available ?? '0'
  const token = { code: source.token_code, decimals: source.decimals }
  const rest = remaindersOf(prospect)
  const hasFee = coin !== null && estimate !== null && 'fee' in estimate
  return {
    decision: { ...decision, requirements: withVoters(requirements, electorates) },
    trace,
    problems,
    fee: hasFee ? toAssetAmount(estimate.fee, coin) : null,
    feeLevel: order.feeLevel ?? defaultFeeLevel,
    maxFee: coin === null || order.maxFee === undefined ? null : toAssetAmount(order.maxFee.raw, coin),
    available,
    availableDecimal: formatDecimal(available, source.decimals),
    remaining: {
      token: rest.token < 0n ? null : toAssetAmount(rest.token, token),
      nativeCoin: coin === null || rest.coin === null || rest.coin < 0n ? null : toAssetAmount(rest.coin, coin),
    },
    usdValue: source.usd_rate === null ? null : usdValueOf(amount, source.decimals, source.usd_rate),
    isFirstPayment,
    warnings: isLookAlike ? ['look_alike'] : [],
  }
}

/** Returns requirements as a preview shows them, with the people who could vote. */
export function withVoters<Requirement extends { policyId: string }>(
  requirements: Requirement[],
  electorates: Prospect['electorates'],
) {
  return requirements.map((requirement) => {
    const { count, voters } = electorates.get(requirement.policyId) ?? { count: 0, voters: [] }
    return { ...requirement, approversCount: count, approvers: voters }
  })
}
