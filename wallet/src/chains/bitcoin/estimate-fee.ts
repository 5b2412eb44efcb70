import { badField } from '../../errors.ts'
import type { FeeLevel } from '../../protocol.ts'
import type { Payment } from '../chain.ts'
import { readAddress } from './addresses.ts'
import { readFeeRate } from './fees.ts'
import { listCoins } from './own-coins.ts'
import { defaultFeeLevel, selectFor } from './send.ts'
import { feeOf, sizeOf } from './sizes.ts'
import type { UtxoNode } from './utxo-node.ts'

/**
 * Selects the outputs as for a payment, so that the fee is exact. An amount that the address cannot pay now is estimated as a payment with
 * one output. If the node takes only rates above the settings, its rate is used, although such a payment waits.
 */
export async function estimateFee(node: UtxoNode, payment: Payment, wanted: FeeLevel = defaultFeeLevel) {
  const { network, rpc, parameters } = node
  const found = await readFeeRate(rpc, wanted, node, parameters)
  const { rate, least } = 'refusal' in found ? { rate: found.least, least: found.least } : found
  const present = await listCoins(node.pool, { network, from_address: payment.fromAddress })
  const selection = selectFor(node, payment, present, { rate, least, level: wanted, maxFee: null })
  if (!('refusal' in selection)) return { fee: selection.fee, maxFee: selection.fee }
  if (selection.refusal === 'TOO_MANY_OUTPUTS')
    throw badField(
      'amount',
      `must be ${selection.most} or less: the address has too many small outputs for one payment`,
    )
  const scripts = [payment.toAddress, payment.fromAddress].map((address) => readAddress(address, parameters)!.script)
  const fee = feeOf(rate, sizeOf(1, scripts))
  return { fee, maxFee: fee }
}
