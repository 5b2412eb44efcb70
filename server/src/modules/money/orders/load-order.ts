import { type AddressScope, subjectsOf } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { leastAmountTo } from '../../../lib/dust.ts'
import { badRequest, type FieldFault, faulty, forbidden } from '../../../lib/errors.ts'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { formatDecimal, isDecimal, parseDecimal } from '../../../lib/money.ts'
import { parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import type { AddressOwner } from '../../address-book/counterparties/queries.ts'
import type { RecipientSigns } from '../../address-book/recipients/queries.ts'
import { type NamedCategory, nameCategory } from '../../operations/assignments/named-category.ts'
import { factsOfInitiator, type Initiator, type Question } from '../../rules/decisions/decide.ts'
import type { PolicySnapshot } from '../../rules/decisions/decision.ts'
import { type ActiveHold, findActiveHold } from '../../rules/holds/active.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { agreedAvailable, findSource, type ShownParts, type SourceRow } from './gather.ts'
import { asOrdered } from './objections.ts'
import type { OrderBody } from './schema.ts'

/** An order with its facts, and the policies that may decide on them. `category` is the category that the order declares. */
type LoadedOrder = {
  order: Order
  category: NamedCategory | null
  question: Question
  candidates: PolicySnapshot[]
  rulesVersion: number
  shown: ShownParts
}

type Loading = {
  /** The source addresses that the caller may name. */
  scope: AddressScope
  initiator: Initiator
  /** True if the initiator is the caller. A simulation may name any initiator. */
  spends: boolean
  /** True if the order is placed, so that no hold may be placed meanwhile. */
  locksHolds?: boolean
  /** The score of this order; left out when the screening was not asked or did not answer. */
  riskScore?: string | undefined
  now: Date
}

/**
 * Reads everything that an order refers to, and checks it.
 *
 * @throws 400 for a wrong order, 404 for an address that the caller does not see, 403 for an address from which the caller may
 *   not move funds, or for a category that the initiator may not assign
 */
export async function loadOrder(
  db: Db | Trx,
  body: OrderBody,
  { scope, initiator, spends, locksHolds = false, riskScore, now }: Loading,
): Promise<LoadedOrder> {
  const { vaultId } = scope
  const found = orNotFound(await findSource(db, scope, body, { initiator, now, locksHolds }), 'Address')
  const { candidates, rules_version: rulesVersion, category: declared, coin_decimals, shown, ...source } = found
  // Not every viewer of an address may spend from it.
  if (spends && !source.can_transfer) {
    throw forbidden(
      'not_permitted',
      'Only the owner of an address and members with a transfer grant on it may transfer from it',
    )
  }
  const limits = readFeeLimits(coin_decimals, body)
  const order = { ...planOrder(source, body), ...limits, ...(riskScore === undefined ? {} : { riskScore }) }

  const key = body.metadata?.category ?? null
  const viewer = { readsAll: initiator.isAdmin, isOwnOperation: true, subjects: subjectsOf(initiator) }
  const naming = { type: 'transfer', viewer, field: 'metadata.category' } as const
  const category = key === null ? null : nameCategory(declared, naming)
  const facts = factsOf(order, { initiator, category: category?.category.key ?? null, now })
  const question = { vaultId, actionType: 'transfer', initiator, facts }
  return { order, category, question, candidates, rulesVersion, shown }
}

/** A transfer order that is resolved and checked, ready for a decision. */
export type Order = {
  source: SourceRow & { token_id: string; token_code: string; decimals: number }
  to: { address: string; key: string }
  amount: bigint
  feeLevel?: FeeLevel
  /** The most that may be paid in fees: in the smallest unit of the coin, and in its units. */
  maxFee?: { raw: bigint; decimal: string }
  /** The score of the screening, for policies. */
  riskScore?: string
}

/** Reads the fee level and the fee limit of an order. @throws 400 for a limit in a coin that is not registered */
function readFeeLimits(
  coinDecimals: number | null,
  { feeLevel, maxFee }: OrderBody,
): Pick<Order, 'feeLevel' | 'maxFee'> {
  const level = feeLevel === undefined ? {} : { feeLevel }
  if (maxFee === undefined) return level
  const raw = BigInt(maxFee)
  if (raw > rawAmountMax) throw badRequest('maxFee', 'must be at most 2^256-1')
  if (coinDecimals === null) throw badRequest('maxFee', 'needs the coin of the network, which is not registered')
  return { ...level, maxFee: { raw, decimal: formatDecimal(raw, coinDecimals) } }
}

/** Checks an order against its source address. @throws 400 naming every wrong field */
export function planOrder(source: SourceRow, body: OrderBody): Order {
  const faults: FieldFault[] = []
  const fault = (field: string, message: string) => faults.push({ field, message })
  const { token_id, token_code, decimals } = source
  if (token_id === null || token_code === null || decimals === null) {
    const field = body.tokenId !== undefined ? 'tokenId' : 'token'
    const message =
      body.token === undefined && body.tokenId === undefined
        ? 'is required, because the address has no primary token'
        : 'is not a token of the network of this address'
    throw faulty([{ field, message }])
  }
  if (body.token !== undefined && body.token !== token_code)
    fault('token', `is not the token that tokenId names, which is ${token_code}`)
  const amount = parseDecimal(body.amount, decimals)
  if (amount === null) fault('amount', faultOfAmount(body.amount, token_code, decimals))
  else if (amount === 0n) fault('amount', 'must be greater than 0')

  const to = parseOnchainAddress(body.toAddress, source.network_type)
  if (to === null) fault('toAddress', `is not a valid address of the network ${source.network_slug}`)
  else if (to.key === source.address_key) fault('toAddress', 'is the address the funds come from')
  else if (/^0x0{40}$/.test(to.key)) fault('toAddress', 'is the zero address, where funds are lost')
  else if (body.counterpartyId !== undefined && body.counterpartyId !== source.counterparty?.id)
    fault('counterpartyId', 'is not the counterparty that toAddress belongs to')
  const least = to === null || source.contract_address !== null ? null : leastAmountTo(to.address, source.network_type)
  if (least !== null && amount !== null && amount > 0n && amount < least)
    fault('amount', `must be at least ${formatDecimal(least, decimals)}: the network relays no smaller payment`)

  if (faults.length > 0 || amount === null || to === null) throw faulty(faults)
  return { source: { ...source, token_id, token_code, decimals }, to, amount }
}

/** Returns the reason for which a text is not an amount of the token. */
function faultOfAmount(text: string, tokenCode: string, decimals: number): string {
  if (isDecimal(text)) return `must fit ${tokenCode} with its ${decimals} decimals`
  if (text.startsWith('-') && isDecimal(text.slice(1))) return 'must be greater than 0'
  return 'must be a decimal string such as 1.5'
}

/** Returns the facts of a new order for the list of objections. They are the same in an order, a preview and a payout. */
export const factsOfNewOrder = ({ source: { counterparty, token_code, token_enabled } }: Order) => ({
  ...asOrdered,
  archived: counterparty !== null && counterparty.archivedAt !== null ? { name: counterparty.name } : null,
  token: { code: token_code, isEnabled: token_enabled === true },
})

/** Returns the active hold that forbids an order, or null. It takes no lock. */
export function findHoldOnOrder(
  db: Db | Trx,
  vaultId: string,
  { source, to }: Order,
  initiatorId: string,
): Promise<ActiveHold | null> {
  const { address_id: addressId, network_id: networkId } = source
  return findActiveHold(db, { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] })
}

/** Returns all facts of an order that policies may read. */
export function factsOf(
  { source, to, amount, maxFee, riskScore }: Order,
  { initiator, category, now }: { initiator: Initiator; category: string | null; now: Date },
): Facts {
  return {
    ...factsOfInitiator(initiator, now),
    token: { id: source.token_id, code: source.token_code },
    amount: formatDecimal(amount, source.decimals),
    ...(source.usd_rate === null ? {} : { usdRate: source.usd_rate }),
    available: agreedAvailable(BigInt(source.available ?? '0'), source),
    networkSlug: source.network_slug,
    sourceAddressId: source.address_id,
    sourceAddress: source.address,
    addressGroupIds: source.folder_ids,
    routeVariants: source.route_variants,
    destination: { address: to.address, key: to.key, networkType: source.network_type },
    ...recipientFacts(source.to_address_id !== null, source.counterparty, source.recipient),
    category,
    ...(maxFee === undefined ? {} : { maxFee: maxFee.decimal }),
    ...(riskScore === undefined ? {} : { riskScore }),
  }
}

/** Returns the facts of a destination: its entry in the address book, first payment and likeness to a known address. */
export function recipientFacts(
  isInternal: boolean,
  owner: AddressOwner | null,
  { isFirstPayment, isLookAlike }: RecipientSigns,
): Pick<Facts, 'destinationType' | 'counterparty' | 'destinationAddedAt' | 'isFirstPayment' | 'isLookAlike'> {
  const destinationType = isInternal ? 'internal' : owner === null ? 'unknown' : 'counterparty'
  const signs = { isFirstPayment, isLookAlike }
  if (owner === null) return { destinationType, counterparty: null, destinationAddedAt: null, ...signs }
  const { id, kind, createdAt, groupIds, addedAt } = owner
  return { destinationType, counterparty: { id, kind, createdAt, groupIds }, destinationAddedAt: addedAt, ...signs }
}
