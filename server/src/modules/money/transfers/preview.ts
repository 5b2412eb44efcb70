import type { Static } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { findLookAlikes } from '../../address-book/recipients/queries.ts'
import { walletOfVault } from '../../registry/wallet-service/client.ts'
import { decide } from '../../rules/policies/decide.ts'
import { toPolicySimulation } from '../../rules/policies/present.ts'
import { loadOrder } from './load-order.ts'
import type { OrderBody } from './payload.ts'
import type { Order } from './plan-order.ts'
import { findNativeCoin } from './queries.ts'
import type { TransferPreview } from './schema.ts'

/** The outcome that an order would have now; changes nothing and locks nothing. @throws as `loadOrder` */
export async function previewTransfer(
  deps: Deps,
  body: OrderBody,
  { member, now }: ByMember,
): Promise<Static<typeof TransferPreview>> {
  const scope = visibleScopeOf(member)
  const { order, question } = await loadOrder(deps.db, body, { scope, initiator: member, spends: true, now })
  const decided = await decide(deps.db, question)
  const { trace, ...decision } = toPolicySimulation(decided, { isAdmin: member.isAdmin, isInitiator: true })
  const lookAlikes = await findLookAlikes(deps.db, scope, [order.to.key])
  const available = order.source.available ?? '0'
  return {
    decision,
    trace,
    fee: await estimateFee(deps, member.vault.id, order),
    available,
    availableDecimal: formatDecimal(available, order.source.decimals),
    warnings: lookAlikes.size === 0 ? [] : ['look_alike'],
  }
}

/** The wallet service's estimate in the native coin; null when it is not available, because a preview must not fail for that. */
async function estimateFee(
  deps: Deps,
  vaultId: string,
  { source, to, amount }: Order,
): Promise<Static<typeof TransferPreview>['fee']> {
  const coin = await findNativeCoin(deps.db, source.network_id)
  if (coin === null) return null
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const { fee } = await wallet.estimateFee({
      network: source.network_slug,
      fromAddress: source.address,
      toAddress: to.address,
      contractAddress: source.contract_address,
      amount: amount.toString(),
    })
    return { amount: fee, amountDecimal: formatDecimal(fee, coin.decimals), asset: coin.code }
  } catch (error) {
    deps.log.warn({ err: error }, 'no fee estimate')
    return null
  }
}
