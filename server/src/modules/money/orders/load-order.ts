import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isAddressInScope, isTransferAllowed, subjectsOf } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { badRequest, type FieldFault, faulty, forbidden } from '../../../lib/errors.ts'
import type { FeeLevel } from '../../../lib/fee-levels.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import { formatDecimal, isDecimal, parseDecimal } from '../../../lib/money.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { type RecipientSigns, recipientSignsOf } from '../../address-book/recipients/queries.ts'
import { findNamedCategory, type NamedCategory } from '../../operations/assignments/actions.ts'
import { addressKeyIn, addressKeyOn, bitcoinKeyOf } from '../../registry/networks/queries.ts'
import { newestRate, type RateColumns } from '../../registry/rates/queries.ts'
import { findNativeCoin } from '../../registry/tokens/queries.ts'
import { isWithheld } from '../../registry/tokens/withheld.ts'
import { candidatesColumn, factsOfInitiator, type Initiator, type Question } from '../../rules/decisions/decide.ts'
import type { PolicySnapshot } from '../../rules/decisions/decision.ts'
import { type ActiveHold, activeHoldOn, findActiveHold, sharedHoldLock } from '../../rules/holds/active.ts'
import type { Facts } from '../../rules/selectors/facts.ts'
import { type ProfileRow, profileOf } from '../../rules/votes/queries.ts'
import { unagreedPart } from '../ledger/agreed.ts'
import { asOrdered, type Gathered } from './objections.ts'
import type { OrderBody } from './schema.ts'

/** An order with the facts for the policies, and those policies; `category` is the one it declares. */
export type LoadedOrder = {
  order: Order
  category: NamedCategory | null
  question: Question
  candidates: PolicySnapshot[]
  shown: ShownParts
}

/** Columns that the answer to an order shows, and nothing decides on. */
export type ShownParts = { symbol: string; initiator: ProfileRow }

type Loading = {
  /** Which source addresses the caller may name. */
  scope: AddressScope
  initiator: Initiator
  /** Whether the caller orders for themselves; a simulation may name any initiator. */
  spends: boolean
  /** Whether the order is placed, so that no hold may be placed meanwhile. */
  locksHolds?: boolean
  /** What the screening answered about this order; left out when it was not asked or did not answer. */
  riskScore?: string | undefined
  now: Date
}

/**
 * Reads everything that an order refers to, and checks it.
 *
 * @throws 400 for a wrong order, 404 for an address that the caller does not see, 403 for one they may not move funds from
 *   or a category that the initiator may not assign
 */
export async function loadOrder(
  db: Db | Trx,
  body: OrderBody,
  { scope, initiator, spends, locksHolds = false, riskScore, now }: Loading,
): Promise<LoadedOrder> {
  const { vaultId } = scope
  const found = orNotFound(await findSource(db, scope, body, { initiator, now, locksHolds }), 'Address')
  const { candidates, shown, ...source } = found
  // A viewer of an address may not necessarily spend from it.
  if (spends && !source.can_transfer) {
    throw forbidden(
      'not_permitted',
      'Only the owner of an address and members with a transfer grant on it may transfer from it',
    )
  }
  const limits = await readFeeLimits(db, source, body)
  const order = { ...planOrder(source, body), ...limits, ...(riskScore === undefined ? {} : { riskScore }) }

  const key = body.metadata?.category ?? null
  const viewer = { readsAll: initiator.isAdmin, isOwnOperation: true, subjects: subjectsOf(initiator) }
  const naming = { type: 'transfer', viewer, field: 'metadata.category' } as const
  const category = key === null ? null : await findNamedCategory(db, vaultId, { key, ...naming })
  const facts = factsOf(order, { initiator, category: category?.category.key ?? null, now })
  return { order, category, question: { vaultId, actionType: 'transfer', initiator, facts }, candidates, shown }
}

/** A transfer order that is resolved and checked, ready for a decision. */
export type Order = {
  source: SourceRow & { token_id: string; token_code: string; decimals: number }
  to: { address: string; key: string }
  amount: bigint
  feeLevel?: FeeLevel
  /** The most that may be paid in fees: in the smallest unit of the coin, and in its units. */
  maxFee?: { raw: bigint; decimal: string }
  /** What the screening answered about it, for policies. */
  riskScore?: string
}

/** What an order says about its fee. @throws 400 for a limit in a coin that is not registered */
async function readFeeLimits(
  db: Db | Trx,
  { network_id }: SourceRow,
  { feeLevel, maxFee }: OrderBody,
): Promise<Pick<Order, 'feeLevel' | 'maxFee'>> {
  const level = feeLevel === undefined ? {} : { feeLevel }
  if (maxFee === undefined) return level
  const raw = BigInt(maxFee)
  if (raw > rawAmountMax) throw badRequest('maxFee', 'must be at most 2^256-1')
  const coin = await findNativeCoin(db, network_id)
  if (coin === null) throw badRequest('maxFee', 'needs the coin of the network, which is not registered')
  return { ...level, maxFee: { raw, decimal: formatDecimal(raw, coin.decimals) } }
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

  if (faults.length > 0 || amount === null || to === null) throw faulty(faults)
  return { source: { ...source, token_id, token_code, decimals }, to, amount }
}

/** Why a text is not an amount of the token. */
function faultOfAmount(text: string, tokenCode: string, decimals: number): string {
  if (isDecimal(text)) return `must fit ${tokenCode} with its ${decimals} decimals`
  if (text.startsWith('-') && isDecimal(text.slice(1))) return 'must be greater than 0'
  return 'must be a decimal string such as 1.5'
}

/** Facts of a new order for the list of objections, the same in an order, a preview and a payout. */
export const factsOfNewOrder = ({ source: { counterparty, token_code, token_enabled } }: Order) => ({
  ...asOrdered,
  archived: counterparty !== null && counterparty.archivedAt !== null ? { name: counterparty.name } : null,
  token: { code: token_code, isEnabled: token_enabled === true },
})

export const uncoveredOf = ({ source, amount }: Order, available: bigint): Gathered['uncovered'] =>
  amount > available ? { missing: amount - available, code: source.token_code } : null

/** The active hold that forbids an order, or null; as of now, without a lock. */
export function findHoldOnOrder(
  db: Db | Trx,
  vaultId: string,
  { source, to }: Order,
  initiatorId: string,
): Promise<ActiveHold | null> {
  const { address_id: addressId, network_id: networkId } = source
  return findActiveHold(db, { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] })
}

/** All facts of an order that policies may read. */
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

/**
 * The fact `available`, in token units: what is available without what single people adjusted, as far as the vault is under a
 * quorum.
 */
export function agreedAvailable(available: bigint, { unagreed, decimals }: Order['source']): string {
  const agreed = available - BigInt(unagreed ?? '0')
  return formatDecimal(agreed < 0n ? 0n : agreed, decimals)
}

/** The entry of the address book for the destination, and what the vault knows of it besides. */
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

export type SourceRow = RateColumns & {
  address_id: string
  address: string
  address_key: string
  derivation_path: string
  owner_id: string
  /** Whether the caller may spend from the address. */
  can_transfer: boolean
  network_id: string
  network_slug: string
  network_type: NetworkType
  coin_type: number
  token_id: string | null
  token_code: string | null
  contract_address: string | null
  decimals: number | null
  token_enabled: boolean | null
  /** null: the address has no account of the token. */
  available: string | null
  /** The part of it that policies do not count; null without a token. */
  unagreed: string | null
  to_address_id: string | null
  counterparty: AddressOwner | null
  /** As the whole vault knows it: the same for every initiator. */
  recipient: RecipientSigns
  /** The segments of the source address, by codes. */
  route_variants: { route: string; variant: string }[]
  /** The folders that the source address is in. */
  folder_ids: string[]
}

type FoundSource = SourceRow & { candidates: PolicySnapshot[]; shown: ShownParts }

/**
 * Everything an order refers to, in one round trip; null when the caller may not see the source address. An order that is
 * placed takes the shared lock of the holds with it, and reads them later. The policies that may apply come with it.
 */
export async function findSource(
  db: Db | Trx,
  scope: AddressScope,
  body: OrderBody,
  { initiator, now, locksHolds }: { initiator: Initiator; now: Date; locksHolds: boolean },
): Promise<FoundSource | null> {
  const { rows } = await sql<FoundSource>`${prepared}
    select ${sourceColumns(scope, addressKeyOn('n', body.toAddress))},
      ${candidatesColumn(scope.vaultId, 'transfer', initiator.groupIds)} as candidates,
      json_build_object('symbol', t.symbol, 'initiator', (
        select ${profileOf('i')} from users i where i.id = ${initiator.userId})) as shown
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} addresses a
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and ${isTokenOf(body)}
    ${sourceJoins(addressKeyOn('n', body.toAddress), now)}
    where a.id = ${body.fromAddressId} and ${isAddressInScope(scope, 'a')}`.execute(db)
  return rows[0] ?? null
}

/** As `findSource` for many orders, in one round trip; in the order of `bodies`. */
export async function findSources(
  db: Db | Trx,
  scope: AddressScope,
  bodies: OrderBody[],
  { now, locksHolds = false }: { now: Date; locksHolds?: boolean },
): Promise<(SourceRow | null)[]> {
  const column = (read: (body: OrderBody) => string | null | undefined) => bodies.map((body) => read(body) ?? null)
  const key = addressKeyIn('n', sql`b.to_address`, sql`b.on_bitcoin`)
  const { rows } = await sql<SourceRow & { place: number }>`
    select b.place::int as place, ${sourceColumns(scope, key)}
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} unnest(
      ${column((body) => body.fromAddressId)}::text[], ${column((body) => body.tokenId)}::text[],
      ${column((body) => body.token)}::text[], ${column((body) => body.toAddress)}::text[],
      ${column((body) => bitcoinKeyOf(body.toAddress))}::text[]
    ) with ordinality as b(from_id, token_id, token, to_address, on_bitcoin, place)
    join addresses a on a.id = b.from_id and ${isAddressInScope(scope, 'a')}
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and case
      when b.token_id is not null then t.id = b.token_id
      when b.token is not null then t.code = b.token
      else t.id = a.token_id end
    ${sourceJoins(key, now)}`.execute(db)
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return bodies.map((_, i) => found.get(i + 1) ?? null)
}

/** SQL: `t` is the token that an order names, or the primary one of its address `a`. */
export const isTokenOf = ({ tokenId, token }: Pick<OrderBody, 'tokenId' | 'token'>) =>
  tokenId !== undefined ? sql`t.id = ${tokenId}` : token !== undefined ? sql`t.code = ${token}` : sql`t.id = a.token_id`

/** SQL: the columns of SourceRow; `key` is the one of the recipient on the network `n`. */
const sourceColumns = (scope: AddressScope, key: RawBuilder<string | null>) => sql`
  a.id as address_id, a.address, a.address_key, a.derivation_path, a.owner_id,
  ${isTransferAllowed(scope, 'a')} as can_transfer, n.id as network_id, n.slug as network_slug,
  n.type as network_type, n.coin_type, t.id as token_id, t.code as token_code,
  t.contract_address, t.decimals, t.enabled and not ${isWithheld(sql`a.vault_id`, sql`t.id`)} as token_enabled,
  l.balance as available,
  ${unagreedPart({ vaultId: sql`a.vault_id`, addressId: sql`a.id`, tokenId: sql`t.id` })} as unagreed, d.id as to_address_id,
  ${ownerOfAddress(sql`a.vault_id`, sql`a.network_id`, key)} as counterparty,
  ${recipientSignsOf(sql`a.vault_id`, key)} as recipient,
  r.usd_rate, r.usd_rate_as_of, r.usd_rate_source,
  (select coalesce(jsonb_agg(jsonb_build_object('route', x.code, 'variant', y.code) order by x.position), '[]')
    from routes x join variants y on y.vault_id = x.vault_id and y.route_id = x.id
    where x.vault_id = a.vault_id and a.segments ->> x.code = y.path_id::text) as route_variants,
  array(select m.group_id from address_group_members m
    where m.vault_id = a.vault_id and m.address_id = a.id order by m.group_id) as folder_ids`

const sourceJoins = (key: RawBuilder<string | null>, now: Date) => sql`
  left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id and l.purpose = 'available'
  left join addresses d on d.vault_id = a.vault_id and d.network_id = a.network_id and d.address_key = ${key}
  ${newestRate('t.id', now)}`

/**
 * Locks the account that an order spends from. Returns what is available now, in raw units, and the active hold that forbids
 * the order, or null: an earlier statement has taken the shared lock of the holds.
 */
export async function lockAvailable(
  trx: Trx,
  { vaultId, initiatorId, source, to }: { vaultId: string; initiatorId: string } & Pick<Order, 'source' | 'to'>,
): Promise<{ available: bigint; hold: ActiveHold | null }> {
  const { address_id: addressId, token_id: tokenId, network_id: networkId } = source
  const touched = { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] }
  const { rows } = await sql<{ balance: string | null; hold: ActiveHold | null }>`${prepared}
    select ${activeHoldOn(touched)} as hold, (
      select balance from ledger_accounts
      where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId} and purpose = 'available'
      for update) as balance`.execute(trx)
  const { balance, hold } = rows[0]!
  return { available: BigInt(balance ?? '0'), hold }
}
/** As `lockAvailable` for many accounts, in the order in which every posting locks them; by address and token. */
export async function lockAccountsOf(
  trx: Trx,
  vaultId: string,
  accounts: { address_id: string; token_id: string }[],
): Promise<(account: { address_id: string; token_id: string }) => bigint> {
  const { rows } = await sql<{ address_id: string; token_id: string; balance: string }>`
    select address_id, token_id, balance from ledger_accounts
    where vault_id = ${vaultId} and purpose = 'available' and (address_id, token_id) in (
      select * from unnest(${accounts.map(({ address_id }) => address_id)}::text[], ${accounts.map(({ token_id }) => token_id)}::text[]))
    order by address_id, token_id
    for update`.execute(trx)
  const balances = new Map(rows.map(({ address_id, token_id, balance }) => [`${address_id} ${token_id}`, balance]))
  return ({ address_id, token_id }) => BigInt(balances.get(`${address_id} ${token_id}`) ?? '0')
}
