import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope, isTransferAllowed } from '../../../access/address-scope.ts'
import { profileOf } from '../../../access/profile.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import { type Columns, select } from '../../../db/columns.ts'
import { formatDecimal } from '../../../lib/money.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { type RecipientSigns, recipientSignsOf } from '../../address-book/recipients/queries.ts'
import { type AssignableCategory, categoryByKey } from '../../operations/assignments/named-category.ts'
import { addressKeyIn, addressKeyOn, bech32KeyOf } from '../../registry/networks/queries.ts'
import { newestRate, type RateColumns } from '../../registry/rates/queries.ts'
import { isWithheld } from '../../registry/tokens/withheld.ts'
import { type AskedPolicies, askPolicies, type SentPolicies } from '../../rules/decisions/candidates.ts'
import type { Initiator } from '../../rules/decisions/decide.ts'
import type { PolicySnapshot } from '../../rules/decisions/decision.ts'
import { type ActiveHold, activeHoldOn, sharedHoldLock } from '../../rules/holds/active.ts'
import { newestVersionNumber } from '../../rules/rules-versions/versions.ts'
import type { ProfileRow } from '../../rules/votes/queries.ts'
import { unagreedPart } from '../ledger/agreed.ts'
import type { Gathered } from './objections.ts'
import type { OrderBody } from './schema.ts'

/** The facts of a payment: the paying address with its network and token, and the recipient. */
export type SourceRow = RateColumns & {
  address_id: string
  address: string
  address_key: string
  derivation_path: string
  owner_id: string
  /** True if the caller may spend from the address. */
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
  /** null when the address has no account of the token. */
  available: string | null
  /** The part of `available` from adjustments of single people, which policies do not count; null without a token. */
  unagreed: string | null
  to_address_id: string | null
  counterparty: AddressOwner | null
  /** Two signs of the recipient that do not depend on the initiator: nobody has paid it before, and it looks like a known address. */
  recipient: RecipientSigns
  /** The segments of the source address, by codes. */
  route_variants: { route: string; variant: string }[]
  /** The folders that the source address is in. */
  folder_ids: string[]
}

/** The caller, the time, and SQL for the key of the recipient on the network `n`. */
type Payment = { scope: AddressScope; now: Date; key: RawBuilder<string | null> }

/**
 * SQL: the expression of each fact, which its room gives. The statement has the paying address as `a`, its network as `n` and the
 * token as `t`.
 */
const facts: Columns<SourceRow, Payment> = {
  address_id: () => sql`a.id`,
  address: () => sql`a.address`,
  address_key: () => sql`a.address_key`,
  derivation_path: () => sql`a.derivation_path`,
  owner_id: () => sql`a.owner_id`,
  can_transfer: ({ scope }) => isTransferAllowed(scope, 'a'),
  network_id: () => sql`n.id`,
  network_slug: () => sql`n.slug`,
  network_type: () => sql`n.type`,
  coin_type: () => sql`n.coin_type`,
  token_id: () => sql`t.id`,
  token_code: () => sql`t.code`,
  contract_address: () => sql`t.contract_address`,
  decimals: () => sql`t.decimals`,
  token_enabled: () => sql`t.enabled and not ${isWithheld(sql`a.vault_id`, sql`t.id`)}`,
  available: () => sql`l.balance`,
  unagreed: () => unagreedPart({ vaultId: sql`a.vault_id`, addressId: sql`a.id`, tokenId: sql`t.id` }),
  to_address_id: () => sql`d.id`,
  counterparty: ({ key }) => ownerOfAddress(sql`a.vault_id`, sql`a.network_id`, key),
  recipient: ({ key }) => recipientSignsOf(sql`a.vault_id`, key),
  usd_rate: () => sql`r.usd_rate`,
  usd_rate_as_of: () => sql`r.usd_rate_as_of`,
  usd_rate_source: () => sql`r.usd_rate_source`,
  route_variants: () => sql`
    (select coalesce(jsonb_agg(jsonb_build_object('route', x.code, 'variant', y.code) order by x.position), '[]')
    from routes x join variants y on y.vault_id = x.vault_id and y.route_id = x.id
    where x.vault_id = a.vault_id and a.segments ->> x.code = y.path_id::text)`,
  folder_ids: () => sql`array(select m.group_id from address_group_members m
    where m.vault_id = a.vault_id and m.address_id = a.id order by m.group_id)`,
}

/** The other tables from which these facts are read. */
const joins: ((payment: Payment) => RawBuilder<unknown>)[] = [
  () => sql`left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id
    and l.purpose = 'available'`,
  ({ key }) =>
    sql`left join addresses d on d.vault_id = a.vault_id and d.network_id = a.network_id and d.address_key = ${key}`,
  ({ now }) => newestRate('t.id', now),
]

const joined = (payment: Payment) =>
  sql.join(
    joins.map((join) => join(payment)),
    sql` `,
  )

/** Columns that the answer to an order shows. No decision reads them. */
export type ShownParts = {
  symbol: string
  initiator: ProfileRow
  /** The recipient where it is an address of the vault that the caller may see. */
  toAddressId: string | null
}

type OrderedPayment = Payment & { body: OrderBody; initiator: Initiator; policies: AskedPolicies }

/** The further columns of a single order: the policies that may apply, and the entries that the order names. */
type OrderRow = {
  policies: SentPolicies
  /** The number of the newest version of the rules. */
  rules_version: number
  /** The category that the order declares; null when it declares no category, or an unknown one. */
  category: AssignableCategory | null
  /** The decimals of the coin of the network; null when the coin is not registered. */
  coin_decimals: number | null
  shown: ShownParts
}

const ofOrder: Columns<OrderRow, OrderedPayment> = {
  policies: ({ policies }) => policies.column,
  rules_version: ({ scope }) => newestVersionNumber(scope.vaultId),
  category: ({ scope, body }) => categoryByKey(scope.vaultId, body.metadata?.category ?? null),
  coin_decimals: () => sql`(select c.decimals from tokens c where c.network_id = a.network_id and c.contract_key = '')`,
  shown: ({ scope, initiator }) => sql`json_build_object('symbol', t.symbol,
    'initiator', (select ${profileOf('i')} from users i where i.id = ${initiator.userId}),
    'toAddressId', case when ${isAddressInScope(allVisible(scope), 'd')} then d.id end)`,
}

type FoundSource = SourceRow & Omit<OrderRow, 'policies'> & { candidates: PolicySnapshot[] }

/**
 * Reads everything that an order refers to, in one round trip. Returns null when the caller may not see the source address. With
 * `locksHolds` it also takes the shared lock of the holds; the holds are read by a later statement.
 */
export async function findSource(
  db: Db | Trx,
  scope: AddressScope,
  body: OrderBody,
  { initiator, now, locksHolds }: { initiator: Initiator; now: Date; locksHolds: boolean },
): Promise<FoundSource | null> {
  const policies = askPolicies(scope.vaultId, 'transfer')
  const payment = { scope, now, key: addressKeyOn('n', body.toAddress), body, initiator, policies }
  const { rows } = await sql<SourceRow & OrderRow>`${prepared}
    select ${select(facts, payment)}, ${select(ofOrder, payment)}
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} addresses a
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and ${isTokenOf(body)}
    ${joined(payment)}
    where a.id = ${body.fromAddressId} and ${isAddressInScope(scope, 'a')}`.execute(db)
  const [found] = rows
  if (found === undefined) return null
  const { policies: sent, ...source } = found
  return { ...source, candidates: policies.read(sent, initiator.groupIds) }
}

/** Reads the facts of many payments in one round trip. Returns them in the order of `bodies`. */
export async function findSources(
  db: Db | Trx,
  scope: AddressScope,
  bodies: OrderBody[],
  { now, locksHolds = false }: { now: Date; locksHolds?: boolean },
): Promise<(SourceRow | null)[]> {
  const column = (read: (body: OrderBody) => string | null | undefined) => bodies.map((body) => read(body) ?? null)
  const payment = { scope, now, key: addressKeyIn('n', sql`b.to_address`, sql`b.as_bech32`) }
  const { rows } = await sql<SourceRow & { place: number }>`
    select b.place::int as place, ${select(facts, payment)}
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} unnest(
      ${column((body) => body.fromAddressId)}::text[], ${column((body) => body.tokenId)}::text[],
      ${column((body) => body.token)}::text[], ${column((body) => body.toAddress)}::text[],
      ${column((body) => bech32KeyOf(body.toAddress))}::text[]
    ) with ordinality as b(from_id, token_id, token, to_address, as_bech32, place)
    join addresses a on a.id = b.from_id and ${isAddressInScope(scope, 'a')}
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and case
      when b.token_id is not null then t.id = b.token_id
      when b.token is not null then t.code = b.token
      else t.id = a.token_id end
    ${joined(payment)}`.execute(db)
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return bodies.map((_, i) => found.get(i + 1) ?? null)
}

/** SQL condition: `t` is the token that an order names; if it names no token, the primary token of the address `a`. */
export const isTokenOf = ({ tokenId, token }: Pick<OrderBody, 'tokenId' | 'token'>) =>
  tokenId !== undefined ? sql`t.id = ${tokenId}` : token !== undefined ? sql`t.code = ${token}` : sql`t.id = a.token_id`

type Spending = {
  source: Pick<SourceRow, 'address_id' | 'token_id' | 'network_id' | 'available'> & Unagreed & { token_code: string }
  to: { key: string }
  amount: bigint
}

/**
 * Locks the account that an order spends from. Returns the present fact `available`, the part of the amount that is not covered, and
 * the active hold that forbids the order. The caller has taken the shared lock of the holds in an earlier statement.
 */
export async function lockAvailable(
  trx: Trx,
  { vaultId, initiatorId }: { vaultId: string; initiatorId: string },
  { source, to, amount }: Spending,
): Promise<Pick<Gathered, 'uncovered' | 'hold'> & { available: string }> {
  const { address_id: addressId, token_id: tokenId, network_id: networkId } = source
  const touched = { vaultId, addressId, to: { networkId, key: to.key }, userIds: [initiatorId] }
  const { rows } = await sql<{ balance: string | null; hold: ActiveHold | null }>`${prepared}
    select ${activeHoldOn(touched)} as hold, (
      select balance from ledger_accounts
      where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId} and purpose = 'available'
      for update) as balance`.execute(trx)
  const { balance, hold } = rows[0]!
  const available = BigInt(balance ?? '0')
  const uncovered = uncoveredOf({ source, amount }, available)
  return { available: agreedAvailable(countedOf(available, source), source), uncovered, hold }
}

/**
 * Returns the part of a locked balance that policies count. An amount that was added since the source was read does not count: it may
 * be an adjustment of a single person, which `unagreed` of the source does not contain.
 */
export function countedOf(locked: bigint, { available }: Pick<SourceRow, 'available'>): bigint {
  const read = BigInt(available ?? '0')
  return locked < read ? locked : read
}

export const uncoveredOf = (
  { source, amount }: { source: { token_code: string }; amount: bigint },
  available: bigint,
): Gathered['uncovered'] => (amount > available ? { missing: amount - available, code: source.token_code } : null)

type Unagreed = { unagreed: string | null; decimals: number }

/**
 * Returns the fact `available`, in token units: the available balance without the adjustments of single people, where the vault is
 * under a quorum.
 */
export function agreedAvailable(available: bigint, { unagreed, decimals }: Unagreed): string {
  const agreed = available - BigInt(unagreed ?? '0')
  return formatDecimal(agreed < 0n ? 0n : agreed, decimals)
}

/** Locks many accounts, in the order in which every posting locks them. Returns a function that gives the balance of an account. */
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
