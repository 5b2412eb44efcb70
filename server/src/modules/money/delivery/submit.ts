import type { Deps } from '../../../deps.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { Authorization, WalletClient } from '../../registry/wallet-service/client.ts'
import type { Payload } from '../orders/payload.ts'
import { haltedAsOtherOrder } from '../transfers/lifecycle.ts'
import { haltTransfer, moveTransfer } from '../transfers/move.ts'
import { type Claim, workWhileClaimed } from './claim.ts'
import type { WalletStatus } from './evaluate-status.ts'

/**
 * Sends an order. A refusal ends its transfer, and another order under its id halts it.
 *
 * @returns the status of the transfer; null after a refusal
 */
export async function submit(
  deps: Deps,
  wallet: WalletClient,
  claim: Claim,
  { order, authorization }: { order: Payload; authorization: Authorization | null },
): Promise<WalletStatus | null> {
  try {
    return await wallet.submitTransfer({
      id: claim.id,
      network: order.network,
      coinType: order.coinType,
      derivationPath: order.derivationPath,
      fromAddress: order.fromAddress,
      toAddress: order.toAddress,
      contractAddress: order.contractAddress,
      amount: order.amount,
      ...(order.feeLevel === undefined ? {} : { feeLevel: order.feeLevel }),
      ...(order.maxFee === undefined ? {} : { maxFee: order.maxFee }),
      ...(authorization === null ? {} : { authorization }),
    })
  } catch (error) {
    if (!(error instanceof WalletServiceError)) throw error
    const isConflict = error.kind === 'conflict'
    // A refusal is final only when the wallet service also reports that it never accepted the transfer.
    if (!isConflict && !(error.kind === 'refused' && (await isUnknownTo(wallet, claim.id)))) throw error
    await workWhileClaimed(deps, claim, (trx, transfer, now) => {
      if (isConflict) return haltTransfer(trx, deps.log, transfer, haltedAsOtherOrder, now)
      const failureReason = `${error.code ?? 'WALLET_REFUSED'}: ${error.message}`
      // The wallet service never had the order, so it has no time of a hand-over.
      const changes = { sent_at: null }
      return moveTransfer(trx, transfer, { event: 'failed', actorId: null, now, failureReason, changes })
    })
    return null
  }
}

/** Returns false without an answer: the wallet service may have the transfer, and only the order was refused. */
const isUnknownTo = (wallet: WalletClient, id: string): Promise<boolean> =>
  wallet.getTransfer(id).then(
    (status) => status === null,
    () => false,
  )
