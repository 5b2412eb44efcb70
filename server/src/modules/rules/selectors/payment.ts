import { multiplyDecimals, percentOf } from '../../../lib/money.ts'
import type { Facts } from './facts.ts'
import {
  anySet,
  comparison,
  defineSelector,
  isAmong,
  meets,
  meetsBy,
  oncePerFacts,
  selectorOf,
  unknownFinding,
} from './selector.ts'

/** The amount in token units against a bound: `{op: "gt", value: "1000"}`. */
export const amount = selectorOf(comparison, (facts) => comparedOf(facts).amount, meets)

/** The amount in USD at the rate of the moment, exact and not rounded to cents: `{op: "gt", value: "10000"}`. */
export const amountUsd = selectorOf(comparison, (facts) => comparedUsdOf(facts) ?? undefined, meets)

/** Returns the amount and the balance to compare: of the order or, in a payout, of the orders that are summed with it. */
function comparedOf({ summed, amount, available }: Facts): Pick<Facts, 'amount' | 'available'> {
  return summed ?? { amount, available }
}

/** Returns the value of the order's amount in USD; null when there is no rate. */
export const usdOf = oncePerFacts(({ amount, usdRate }) => usdValueOf(amount, usdRate))

const comparedUsdOf = oncePerFacts((facts) => usdValueOf(comparedOf(facts).amount, facts.usdRate))

function usdValueOf(amount: string | undefined, usdRate: string | undefined): string | null {
  return amount === undefined || usdRate === undefined ? null : multiplyDecimals(amount, usdRate)
}

/**
 * The amount as a percentage of the available balance of the source address before the transfer:
 * `{op: "gt", value: "50"}`. If the balance is zero, the result is unknown.
 */
export const percentOfBalance = defineSelector(comparison, (bound, facts) => {
  const share = shareOf(facts)
  if (share === null) return unknownFinding
  const { hundredfold, available, percent } = share
  // Compared as amount × 100 against bound × available: a division would not be exact.
  const matched = meetsBy(bound, hundredfold, (percentage) => multiplyDecimals(percentage, available))
  return { matched, observed: percent }
})

const shareOf = oncePerFacts((facts) => {
  const { amount, available } = comparedOf(facts)
  return amount === undefined || available === undefined || available === '0'
    ? null
    : { hundredfold: multiplyDecimals(amount, '100'), available, percent: percentOf(amount, available) }
})

/**
 * The fee limit of the order, in units of the network's coin: `{op: "gt", value: "0.05"}`. For an order without a limit the
 * result is unknown.
 */
export const maxFee = selectorOf(comparison, ({ maxFee }) => maxFee, meets)

/**
 * The score of the payment in the screening, from 0 to 100: `{op: "gte", value: "70"}`. Without an answer, or without screening,
 * the result is unknown.
 */
export const riskScore = selectorOf(comparison, ({ riskScore }) => riskScore, meets)

/** The token by id or code. A code may exist on several networks; the id names one of them. */
export const token = defineSelector(anySet, (named, { token }) =>
  token === undefined
    ? unknownFinding
    : { matched: named.includes(token.id) || named.includes(token.code), observed: token.code },
)

/** The network by its slug. */
export const network = selectorOf(anySet, ({ networkSlug }) => networkSlug, isAmong)

/** The declared category of the operation, by its key. An operation without a category certainly does not match. */
export const category = selectorOf(anySet, ({ category }) => category, isAmong)
