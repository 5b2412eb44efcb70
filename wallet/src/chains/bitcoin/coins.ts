import { dustOf } from './addresses.ts'
import { type Coin, feeOf, inputSize, sizeOf } from './sizes.ts'

export type Spending = {
  amount: bigint
  /** Script of the recipient. */
  script: Uint8Array
  /** Script of the sender, to which the change returns. */
  changeScript: Uint8Array
  /** Units for 1,000 virtual bytes. */
  feeRate: bigint
  /** True at the level `low`: small outputs are spent along. */
  gathersSmall: boolean
  maxFee: bigint | null
}

type SpendingLimits = {
  dustRate: bigint
  /** The lowest rate that nodes relay now. */
  feeRateMin: bigint
  /** Outputs below this amount are left: they may carry something that is worth more than its coins. */
  spendMin: bigint
}

/** Outputs that are not spent: they are below `spendMin`, or spending them costs as much as they bring. */
export type Left = { count: number; amount: bigint }

/** The outputs that are spent; `fee` is all that is neither the amount nor the change. */
export type Selection = { coins: Coin[]; fee: bigint; change: bigint; size: number; left: Left }

/** `least`: the least amount or limit with which the order is possible; `most`: the highest amount. */
export type Refusal =
  | { refusal: 'BELOW_DUST'; least: bigint }
  | { refusal: 'INSUFFICIENT_FUNDS'; missing: bigint; left: Left }
  | { refusal: 'TOO_MANY_OUTPUTS'; most: bigint; left: Left }
  | { refusal: 'FEE_ABOVE_MAX'; least: bigint }

/** Inputs of a payment. People prove its outcome by what it spends, which must fit into an answer. */
export const inputsMax = 350
/** Small outputs that are spent along at the level `low`. */
const smallMax = 10

/**
 * Selects the outputs that pay the amount: the smallest that is enough alone, else the largest. The change returns to the
 * sender; a change below dust is a part of the fee. If `maxFee` does not permit the rate, a lower rate is taken.
 */
export function selectCoins(coins: Coin[], spending: Spending, limits: SpendingLimits): Selection | Refusal {
  const least = dustOf(spending.script, limits)
  if (spending.amount < least) return { refusal: 'BELOW_DUST', least }
  const selection = selectAtRate(coins, spending, limits)
  const { maxFee } = spending
  if ('refusal' in selection || maxFee === null || selection.fee <= maxFee) return selection
  const feeRate = (maxFee * 1_000n) / BigInt(selection.size)
  if (feeRate < limits.feeRateMin) return { refusal: 'FEE_ABOVE_MAX', least: feeOf(limits.feeRateMin, selection.size) }
  const cheaper = selectAtRate(coins, { ...spending, feeRate }, limits)
  if ('refusal' in cheaper || cheaper.fee <= maxFee) return cheaper
  return { refusal: 'FEE_ABOVE_MAX', least: cheaper.fee }
}

function selectAtRate(coins: Coin[], spending: Spending, limits: SpendingLimits): Selection | Refusal {
  const { ascending, left } = sortWorthy(coins, spending, limits)
  const divide = dividerOf(spending, limits)
  const chosen = smallestEnough(ascending, spending, divide) ?? largest(ascending, divide)
  if (chosen === null) return refusalOf(ascending, spending, left)
  const { amounts, ...division } = spending.gathersSmall ? withSmall(ascending, chosen, spending, divide) : chosen
  return { coins: withAmounts(coins, amounts), ...division, left }
}

/** Returns the amounts of the outputs that are worth spending, and what the others have together. */
function sortWorthy(coins: Coin[], { feeRate }: Spending, { spendMin }: SpendingLimits) {
  const cost = feeOf(feeRate, inputSize)
  const least = spendMin > cost ? spendMin : cost + 1n
  const amounts = new BigUint64Array(coins.length)
  const left = { count: 0, amount: 0n }
  let count = 0
  for (const { amount } of coins) {
    if (amount >= least) {
      amounts[count] = amount
      count += 1
    } else {
      left.count += 1
      left.amount += amount
    }
  }
  return { ascending: amounts.subarray(0, count).sort(), left }
}

type Division = { fee: bigint; change: bigint; size: number }
/** Divides what a number of inputs has above the amount into fee and change; null when it is not enough. */
type Divide = (count: number, total: bigint) => Division | null
type Chosen = Division & { amounts: bigint[] }

function dividerOf({ amount, script, changeScript, feeRate, maxFee }: Spending, limits: SpendingLimits): Divide {
  const dust = dustOf(changeScript, limits)
  return (count, total) => {
    const rest = total - amount
    const size = sizeOf(count, [script, changeScript])
    const fee = feeOf(feeRate, size)
    if (rest - fee >= dust) return { fee, change: rest - fee, size }
    const smaller = sizeOf(count, [script])
    const least = feeOf(feeRate, smaller)
    if (rest < least) return null
    // The limit does not permit the rest as a fee. With one more input, the rest can be change.
    if (maxFee !== null && least <= maxFee && rest > maxFee) return null
    return { fee: rest, change: 0n, size: smaller }
  }
}

/** The fee limit may refuse the smallest output that is enough, so a few more are tried before the largest outputs. */
const triedMax = 50

function smallestEnough(
  ascending: BigUint64Array,
  { amount, script, feeRate }: Spending,
  divide: Divide,
): Chosen | null {
  const first = positionOf(ascending, amount + feeOf(feeRate, sizeOf(1, [script])))
  for (const candidate of ascending.slice(first, first + triedMax)) {
    const division = divide(1, candidate)
    if (division !== null) return { ...division, amounts: [candidate] }
  }
  return null
}

function largest(ascending: BigUint64Array, divide: Divide): Chosen | null {
  const amounts: bigint[] = []
  let total = 0n
  for (let at = ascending.length - 1; at >= 0 && amounts.length < inputsMax; at -= 1) {
    amounts.push(ascending[at]!)
    total += ascending[at]!
    const division = divide(amounts.length, total)
    if (division !== null) return { ...division, amounts }
  }
  return null
}

/** Adds outputs below a tenth of the payment, as many as the limit of the fee permits. */
function withSmall(ascending: BigUint64Array, chosen: Chosen, { amount, maxFee }: Spending, divide: Divide): Chosen {
  const end = Math.min(...[amount / 10n, ...chosen.amounts].map((limit) => positionOf(ascending, limit)))
  const room = Math.min(end, smallMax, inputsMax - chosen.amounts.length)
  for (let count = room; count > 0; count -= 1) {
    const amounts = [...chosen.amounts, ...ascending.slice(0, count)]
    const division = divide(amounts.length, sumOf(amounts))
    if (division !== null && (maxFee === null || division.fee <= maxFee)) return { ...division, amounts }
  }
  return chosen
}

function refusalOf(ascending: BigUint64Array, { amount, script, feeRate }: Spending, left: Left): Refusal {
  const feeOfAll = (count: number) => feeOf(feeRate, sizeOf(count, [script]))
  const rest = sumOf(ascending) - amount
  const fee = feeOfAll(ascending.length)
  if (rest < fee) return { refusal: 'INSUFFICIENT_FUNDS', missing: fee - rest, left }
  // All outputs together are enough, but the rest would be a fee above the limit.
  if (ascending.length <= inputsMax) return { refusal: 'FEE_ABOVE_MAX', least: rest }
  const most = sumOf(ascending.slice(-inputsMax)) - feeOfAll(inputsMax)
  return { refusal: 'TOO_MANY_OUTPUTS', most, left }
}

/** Returns coins with these amounts, in the order of the amounts. */
function withAmounts(coins: Coin[], amounts: bigint[]): Coin[] {
  const wanted = new Map<bigint, number[]>()
  for (const [at, amount] of amounts.entries()) wanted.set(amount, [...(wanted.get(amount) ?? []), at])
  const chosen = new Array<Coin>(amounts.length)
  let missing = amounts.length
  for (const coin of coins) {
    const at = wanted.get(coin.amount)?.pop()
    if (at === undefined) continue
    chosen[at] = coin
    missing -= 1
    if (missing === 0) break
  }
  return chosen
}

/** Returns the position of the first amount that is `least` or more. */
function positionOf(ascending: BigUint64Array, least: bigint): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

function sumOf(amounts: Iterable<bigint>): bigint {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}
