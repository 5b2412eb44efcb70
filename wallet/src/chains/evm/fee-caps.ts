import { pointlessFeeFactor, unsignedFeeFactor } from '../../limits.ts'
import type { FeeLevel } from '../../protocol.ts'

/** The price of a unit of gas now, in wei. */
export type GasPrice = { baseFeePerGas: bigint; priorityFeePerGas: bigint }

/** The highest price of a transaction for a unit of gas, in wei. */
export type FeeCaps = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/** The limits of the fee of a transaction: its gas, and `maxFee` in wei for all of the gas; null when there is no limit. */
export type FeeLimit = { gas: bigint; maxFee: bigint | null }

export const defaultFeeLevel: FeeLevel = 'medium'

/**
 * The caps of each level, in quarters of the present base fee and of the usual tip. A base fee rises by at most 1/8 per block: twice
 * the base fee covers six full blocks in a row.
 */
const quarters: Record<FeeLevel, { base: bigint; tip: bigint }> = {
  low: { base: 5n, tip: 2n },
  medium: { base: 8n, tip: 4n },
  high: { base: 12n, tip: 8n },
}

export function capsOf(level: FeeLevel, { baseFeePerGas, priorityFeePerGas }: GasPrice): FeeCaps {
  const { base, tip } = quarters[level]
  const maxPriorityFeePerGas = max((priorityFeePerGas * tip) / 4n, 1n)
  return { maxFeePerGas: (baseFeePerGas * base) / 4n + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

/** Returns the highest total fee of an order without a signed fee limit. */
export const unsignedLimitOf = (gas: bigint, price: GasPrice): bigint =>
  gas * capsOf('high', price).maxFeePerGas * unsignedFeeFactor

/** Returns the caps, lowered to the limit; null when the limit does not permit the present base fee. */
export function limitCaps(caps: FeeCaps, { gas, maxFee }: FeeLimit, { baseFeePerGas }: GasPrice): FeeCaps | null {
  if (maxFee === null) return caps
  const maxFeePerGas = min(caps.maxFeePerGas, maxFee / gas)
  if (maxFeePerGas <= baseFeePerGas) return null
  return { maxFeePerGas, maxPriorityFeePerGas: min(caps.maxPriorityFeePerGas, maxFeePerGas) }
}

/** `aboveMax`: the limit is too low. `enough`: the transaction pays far more than what is usual now. */
type ReplacementCaps = { caps: FeeCaps } | { refusal: 'aboveMax' | 'enough' }

/**
 * Returns the caps of a replacement. Both caps are at least 1/8 higher, because nodes refuse less, and at least the present
 * price of the level.
 */
export function replacementCaps(
  replaced: FeeCaps,
  level: FeeLevel,
  { gas, maxFee }: FeeLimit,
  price: GasPrice,
): ReplacementCaps {
  const least = {
    fee: raised(replaced.maxFeePerGas),
    tip: raised(replaced.maxPriorityFeePerGas),
  }
  const high = capsOf('high', price)
  const isPointless =
    least.fee > high.maxFeePerGas * pointlessFeeFactor || least.tip > high.maxPriorityFeePerGas * pointlessFeeFactor
  if (isPointless) return { refusal: 'enough' }
  const wanted = capsOf(level, price)
  const tip = max(least.tip, wanted.maxPriorityFeePerGas)
  const fee = max(max(least.fee, wanted.maxFeePerGas), tip)
  if (maxFee === null) return { caps: { maxFeePerGas: fee, maxPriorityFeePerGas: tip } }
  const affordable = maxFee / gas
  if (affordable < max(least.fee, least.tip) || affordable <= price.baseFeePerGas) return { refusal: 'aboveMax' }
  const maxFeePerGas = min(fee, affordable)
  return { caps: { maxFeePerGas, maxPriorityFeePerGas: min(tip, maxFeePerGas) } }
}

/** An eighth more, rounded up. */
const raised = (perGas: bigint) => perGas + max((perGas + 7n) / 8n, 1n)

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
