import { fromRaw } from './amounts.ts'
import { type Authority, type Order, readOrder } from './documents.ts'
import { SigningError } from './signing-error.ts'

/** The description of an order for people, decoded from the bytes that they sign. */

/** An amount of a token, in the unit that the authority names. */
export interface Quantity {
  /** In the smallest unit. */
  raw: string
  network: string
  contractAddress: string | null
  /**
   * The symbol and the exact decimal amount; null if no authority names the token, and only the smallest unit is known.
   */
  named: { symbol: string; decimal: string } | null
}

/** The fields of an order that the service chooses, and that need no explanation. */
export type Terms = Pick<
  Order,
  'transferId' | 'fromAddressId' | 'tokenId' | 'coinType' | 'derivationPath' | 'rulesVersion' | 'expiresAt'
>

/** All signed fields of an order: two orders that differ in any field have different descriptions. */
export interface OrderDescription {
  amount: Quantity
  recipient: string
  /** True if the recipient is in the signed address book. */
  isListed: boolean
  sender: string
  network: string
  vaultId: string
  initiator: Initiator
  feeLevel: Order['feeLevel'] | null
  /** Null if no limit was set. */
  feeLimit: Quantity | null
  terms: Terms
}

/** The initiator. `email` is the contact that the authority has for them. */
export interface Initiator {
  id: string
  email: string | null
}

export interface PayoutDescription {
  payoutId: string
  vaultId: string
  initiator: Initiator
  rulesVersion: number
  expiresAt: string
  /** The sum of each token, in the order in which the tokens occur first. */
  sums: (Quantity & { rowsCount: number })[]
  rows: OrderDescription[]
}

/** The largest number of rows of a payout. */
const rowsMax = 1_000

/**
 * Decodes an order. Symbol and decimals come from the authority alone, which the vote names by its hash.
 * @throws SigningError for an order with an unknown field, a field of another form, or another vault than that of the
 * authority
 */
export function describeOrder(value: unknown, authority: Authority | null): OrderDescription {
  const order = readOrder(value)
  const { network, toAddress, vaultId, feeLevel = null, maxFee } = order
  if (authority !== null && authority.document.vaultId !== vaultId)
    throw new SigningError('vaultId', 'is another vault')
  return {
    amount: quantityOf({ raw: order.amount, network, contractAddress: order.contractAddress }, authority),
    recipient: toAddress,
    isListed: isListed(order, authority),
    sender: order.fromAddress,
    network,
    vaultId,
    initiator: initiatorOf(order.initiatorId, authority),
    feeLevel,
    feeLimit: maxFee === undefined ? null : quantityOf({ raw: maxFee, network, contractAddress: null }, authority),
    terms: termsOf(order),
  }
}

/**
 * Decodes a payout from the orders of all its rows.
 * @throws SigningError if the rows differ in vault, initiator, version of the rules or end, or if an id occurs twice
 */
export function describePayout(
  payoutId: string,
  orders: readonly unknown[],
  authority: Authority | null,
): PayoutDescription {
  if (orders.length === 0 || orders.length > rowsMax) throw new SigningError('rows', `must be 1 to ${rowsMax}`)
  const rows = orders.map((order) => describeOrder(order, authority))
  const first = rows[0]!
  for (const row of rows) assertSameHead(row, first)
  if (new Set(rows.map(({ terms }) => terms.transferId)).size < rows.length)
    throw new SigningError('transferId', 'occurs twice')
  const { vaultId, initiator, terms } = first
  const { rulesVersion, expiresAt } = terms
  return { payoutId, vaultId, initiator, rulesVersion, expiresAt, sums: sumsOf(rows, authority), rows }
}

function assertSameHead(row: OrderDescription, first: OrderDescription): void {
  if (row.vaultId !== first.vaultId) throw new SigningError('vaultId', 'differs between rows')
  if (row.initiator.id !== first.initiator.id) throw new SigningError('initiatorId', 'differs between rows')
  for (const name of ['rulesVersion', 'expiresAt'] as const)
    if (row.terms[name] !== first.terms[name]) throw new SigningError(name, 'differs between rows')
}

function sumsOf(rows: readonly OrderDescription[], authority: Authority | null): PayoutDescription['sums'] {
  const tokens = [...new Set(rows.map(tokenOf))]
  return tokens.map((token) => {
    const paid = rows.filter((row) => tokenOf(row) === token)
    const { network, contractAddress } = paid[0]!.amount
    const sum = paid.reduce((total, { amount }) => total + BigInt(amount.raw), 0n)
    return { ...quantityOf({ raw: String(sum), network, contractAddress }, authority), rowsCount: paid.length }
  })
}

const tokenOf = ({ amount: { network, contractAddress } }: OrderDescription): string => `${network} ${contractAddress}`

/**
 * Returns the fields of an order that the service chooses.
 * @throws SigningError for an order with an unknown field, or a field of another form
 */
export function termsOf(order: unknown): Terms {
  const { transferId, fromAddressId, tokenId, coinType, derivationPath, rulesVersion, expiresAt } = readOrder(order)
  return { transferId, fromAddressId, tokenId, coinType, derivationPath, rulesVersion, expiresAt }
}

const isSame = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase()

/** Returns the symbol and the decimals of a token, if the authority names it once and in a form that people can read. */
export function unitOf(
  { network, contractAddress }: Pick<Quantity, 'network' | 'contractAddress'>,
  authority: Authority | null,
): { symbol: string; decimals: number } | null {
  const rules = authority?.document.rules ?? []
  const found = rules.filter((rule) => rule.network === network && isSame(rule.contractAddress, contractAddress))
  const { symbol, decimals } = found[0] ?? {}
  if (found.length !== 1 || typeof symbol !== 'string' || !/^[!-~]{1,20}$/.test(symbol)) return null
  if (!Number.isInteger(decimals) || decimals! < 0 || decimals! > 36) return null
  return { symbol, decimals: decimals! }
}

function quantityOf(quantity: Omit<Quantity, 'named'>, authority: Authority | null): Quantity {
  const unit = unitOf(quantity, authority)
  const named = unit === null ? null : { symbol: unit.symbol, decimal: fromRaw(quantity.raw, unit) }
  return { ...quantity, named }
}

function isListed({ network, toAddress }: Order, authority: Authority | null): boolean {
  const listed = authority?.document.addresses ?? []
  return listed.some((entry) => entry.network === network && entry.address === toAddress)
}

function initiatorOf(id: string, authority: Authority | null): Initiator {
  const contact = authority?.document.contacts?.find(({ person }) => person === id)
  return { id, email: typeof contact?.email === 'string' ? contact.email : null }
}

/** Describes a quantity in words, whole and exact. */
export function textOf({ raw, network, contractAddress, named }: Quantity): string {
  const token = contractAddress === null ? `the coin of ${network}` : `${contractAddress} on ${network}`
  return named === null ? `${raw} smallest units of ${token}` : `${named.decimal} ${named.symbol} (${token})`
}
