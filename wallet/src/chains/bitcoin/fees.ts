import type { FeeLevel } from '../../protocol.ts'
import type { UtxoParameters } from './parameters.ts'
import { amountOf, isRecord, NodeOutage, type Rpc } from './rpc.ts'

/** Rates in units for 1,000 virtual bytes, as nodes count them. */
type FeeRates = Record<FeeLevel, bigint>

type FeeSettings = {
  /** The rates when the node has no estimate: nodes that are young or see few transactions have none. */
  feeRates: FeeRates
  /** The highest rate, whatever its source. */
  feeRateMax: bigint
}

/** The number of blocks within which a payment of the level should be mined, and how carefully the node estimates. */
const targets: Record<FeeLevel, { blocks: number; mode: 'ECONOMICAL' | 'CONSERVATIVE' }> = {
  low: { blocks: 72, mode: 'ECONOMICAL' },
  medium: { blocks: 6, mode: 'ECONOMICAL' },
  high: { blocks: 2, mode: 'CONSERVATIVE' },
}

export type FeeRate = {
  rate: bigint
  /** The lowest rate that the node takes now. */
  least: bigint
}

/**
 * Reads the rate of a level: the node's estimate, else that of the settings, never below what the node takes and never above
 * `feeRateMax`. `FEE_RATE_MAX`: the node takes only transactions that cost more than the settings permit.
 */
export async function readFeeRate(
  rpc: Rpc,
  level: FeeLevel,
  { feeRates, feeRateMax }: FeeSettings,
  { relayRate }: Pick<UtxoParameters, 'relayRate'>,
): Promise<FeeRate | { refusal: 'FEE_RATE_MAX'; least: bigint }> {
  const { blocks, mode } = targets[level]
  const [estimate, pool] = await Promise.all([
    rpc.call('estimatesmartfee', [blocks, mode]).then(estimateOf),
    rpc.call('getmempoolinfo').then(poolRateOf),
  ])
  const least = max(relayRate, pool)
  if (least > feeRateMax) return { refusal: 'FEE_RATE_MAX', least }
  return { rate: min(max(estimate ?? feeRates[level], least), feeRateMax), least }
}

/** A node without an estimate says why in `errors`, and its rate is absent or negative. */
function estimateOf(answer: unknown): bigint | null {
  if (!isRecord(answer)) throw new NodeOutage('the node answered an estimate of another form')
  const rate = amountOf(answer.feerate)
  return rate === null || rate === 0n ? null : rate
}

/** The pool of a node that is full takes no transaction below its own least rate. */
function poolRateOf(answer: unknown): bigint {
  if (!isRecord(answer)) throw new NodeOutage('the node answered its least rate in another form')
  const rates = [amountOf(answer.mempoolminfee), amountOf(answer.minrelaytxfee)]
  if (rates.includes(null)) throw new NodeOutage('the node answered its least rate in another form')
  return rates.reduce<bigint>((highest, rate) => max(highest, rate!), 0n)
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
