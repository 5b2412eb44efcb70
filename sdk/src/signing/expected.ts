import { toRaw } from './amounts.ts'
import { canonicalJson } from './canonical.ts'
import { type OrderDescription, type Quantity, type Terms, unitOf } from './describe.ts'
import { type Authority, type Order, orderFields, readOrder } from './documents.ts'
import { SigningError } from './signing-error.ts'

/** The order that a person expects to sign: the values that they entered, and those that they were shown. */
export interface ExpectedOrder {
  vaultId: string
  initiatorId: string
  network: string
  contractAddress: string | null
  fromAddress: string
  toAddress: string
  /** A decimal amount in the unit that the authority names, such as '1.5', or the smallest unit as a bigint. */
  amount: string | bigint
  feeLevel?: Order['feeLevel']
  /** Like `amount`, of the coin of the network. */
  maxFee?: string | bigint
  /** The terms that the service chose, as the person was shown them. */
  terms: Terms
}

/** Returns the order that a person expects who has seen only the description. */
export function expectedOf(shown: OrderDescription): ExpectedOrder {
  const { amount, feeLimit, feeLevel, vaultId, network, sender, recipient, initiator, terms } = shown
  return {
    ...{ vaultId, network, terms, initiatorId: initiator.id, fromAddress: sender, toAddress: recipient },
    contractAddress: amount.contractAddress,
    amount: shownAmount(amount),
    ...(feeLevel === null ? {} : { feeLevel }),
    ...(feeLimit === null ? {} : { maxFee: shownAmount(feeLimit) }),
  }
}

const shownAmount = ({ named, raw }: Quantity): string | bigint => (named === null ? BigInt(raw) : named.decimal)

/**
 * Builds the expected order. It takes nothing from answers of the service except the terms.
 * @throws SigningError for an amount that is not exact, or in a unit that no authority names
 */
export function orderOf(expected: ExpectedOrder, authority: Authority | null): Order {
  const { vaultId, initiatorId, network, contractAddress, fromAddress, toAddress, amount, maxFee, feeLevel, terms } =
    expected
  const coin = { network, contractAddress: null }
  const fee = maxFee === undefined ? {} : { maxFee: smallestUnits('maxFee', maxFee, coin, authority) }
  return readOrder({
    ...{ vaultId, initiatorId, network, contractAddress, fromAddress, toAddress, ...terms, ...fee },
    amount: smallestUnits('amount', amount, { network, contractAddress }, authority),
    ...(feeLevel === undefined ? {} : { feeLevel }),
  })
}

function smallestUnits(
  field: string,
  amount: string | bigint,
  token: Pick<Quantity, 'network' | 'contractAddress'>,
  authority: Authority | null,
): string {
  if (typeof amount === 'bigint') return String(amount)
  const unit = unitOf(token, authority)
  if (unit === null) throw new SigningError(field, 'is of a token that no authority names; use the smallest unit')
  try {
    return String(toRaw(amount, unit))
  } catch {
    throw new SigningError(field, `is not an exact amount with ${unit.decimals} decimals`)
  }
}

/**
 * Returns the order of an answer if it is the expected order byte for byte.
 * @throws SigningError with the first field that differs
 */
export function checkOrder(value: unknown, expected: ExpectedOrder, authority: Authority | null): Order {
  const order = readOrder(value)
  const wanted = spelledAs(order, orderOf(expected, authority))
  for (const name of orderFields)
    if (order[name] !== wanted[name]) throw new SigningError(name, `is ${order[name]} and not ${wanted[name]}`)
  if (canonicalJson(order) !== canonicalJson(wanted)) throw new SigningError('order', 'differs')
  return order
}

/**
 * Adopts the spelling of addresses. People may enter an address without the capital letters of its check sum, which do
 * not change the destination.
 */
function spelledAs(order: Order, wanted: Order): Order {
  const respelled = { ...wanted }
  for (const name of ['fromAddress', 'toAddress', 'contractAddress'] as const) {
    const [is, expected] = [order[name], wanted[name]]
    if (is !== null && is.toLowerCase() === expected?.toLowerCase()) respelled[name] = is
  }
  return respelled
}
