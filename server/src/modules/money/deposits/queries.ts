import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isAddressInScope, isOperationInScope } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { firstCategoryKey } from '../../operations/categories/rights.ts'
import { type FeedRows, readFeed } from '../../operations/feed/feed.ts'
import type { FeedFilters } from '../../operations/feed/feed-filters.ts'
import { toRateSnapshot } from '../../operations/feed/operation-rows.ts'
import type { DetailColumns } from '../../operations/feed/present.ts'
import { addressKeyIn, bech32KeyOf } from '../../registry/networks/queries.ts'
import { newestRate, type RateColumns, type RateSnapshot } from '../../registry/rates/queries.ts'
import { isDust } from '../../registry/tokens/queries.ts'
import { type ShownScreening, screeningOf } from '../screening/queries.ts'
import type { DepositEvent } from './parse-event.ts'
import type { EventReason, QuarantineReason } from './schema.ts'

/** The facts of the registry and of the address book about an event. */
export type EventTarget = {
  networkId: string
  /** The slug of the network. */
  network: string
  addressKey: string
  token: { id: string; decimals: number; enabled: boolean } | null
  address: { vaultId: string; id: string; ownerId: string; hasVaultSecret: boolean } | null
  isInternal: boolean
  /** The counterparty of the sender in the address book of the vault of the recipient. */
  counterparty: AddressOwner | null
  rate: RateSnapshot | null
}

type TargetRow = RateColumns & {
  n: number
  network_id: string
  network: string
  address_key: string
  token_id: string | null
  decimals: number
  enabled: boolean
  vault_id: string | null
  address_id: string
  owner_id: string
  has_vault_secret: boolean
  is_internal: boolean
  counterparty: AddressOwner | null
}

/**
 * Returns the facts of the registry and of the address book about every event; null for an unknown network. Codes and names of
 * networks have no index, so they are looked up only for events whose network is not a slug. Wallet services that send slugs do
 * not wait for them.
 */
export async function findEventTargets(
  db: Db | Trx,
  events: DepositEvent[],
  now: Date,
): Promise<(EventTarget | null)[]> {
  const targets = await targetsBySlug(db, events, now)
  const unknown = events.flatMap((event, n) => (targets[n] === null ? [{ event, n }] : []))
  if (unknown.length === 0) return targets
  const slugs = await slugsOf(db, [...new Set(unknown.map(({ event }) => event.network))])
  const named = unknown.flatMap(({ event, n }) => {
    const slug = slugs.get(event.network)
    return slug === undefined ? [] : [{ n, event: { ...event, network: slug } }]
  })
  if (named.length === 0) return targets
  const found = await targetsBySlug(
    db,
    named.map(({ event }) => event),
    now,
  )
  for (const [i, { n }] of named.entries()) targets[n] = found[i]!
  return targets
}

/** Returns the slugs of the codes and names, in any case, that exactly one network has. */
async function slugsOf(db: Db | Trx, names: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; slug: string }>`
    select e.name, min(n.slug) as slug from unnest(${names}::text[]) as e(name)
    join networks n on lower(e.name) in (lower(n.code), lower(n.name))
    group by e.name having count(*) = 1`.execute(db)
  return new Map(rows.map(({ name, slug }) => [name, slug]))
}

/**
 * Reads the targets in one round trip. Sender and hash are looked up by their unique columns and compared with the vault
 * afterwards. With the vault as a further condition, a database without statistics could choose the index of the vault and read
 * the whole vault for every event.
 */
async function targetsBySlug(db: Db | Trx, events: DepositEvent[], now: Date): Promise<(EventTarget | null)[]> {
  const column = (read: (event: DepositEvent) => string | null) => sql`${events.map(read)}::text[]`
  const { rows } = await sql<TargetRow>`${prepared}
    select e.n::int, n.id as network_id, n.slug as network, k.address_key, t.id as token_id, t.decimals, t.enabled,
      a.vault_id, a.id as address_id, a.owner_id,
      (select v.wallet_webhook_secret is not null from vaults v where v.id = a.vault_id) as has_vault_secret,
      r.usd_rate, r.usd_rate_as_of, r.usd_rate_source,
      exists (select from transfer_hashes h where h.vault_id = a.vault_id and h.tx_hash = e.tx_hash)
        or coalesce(a.vault_id = (select f.vault_id from addresses f
          where f.network_id = n.id and f.address_key = k.from_key), false) as is_internal,
      ${ownerOfAddress(sql`a.vault_id`, sql`n.id`, sql`k.from_key`)} as counterparty
    from unnest(${column((e) => e.network)}, ${column((e) => e.contract ?? '')}, ${column((e) => e.txHash)},
      ${column((e) => e.toAddress)}, ${column((e) => bech32KeyOf(e.toAddress))},
      ${column((e) => e.fromAddress)}, ${column((e) => bech32KeyOf(e.fromAddress))}) with ordinality
      as e(network, contract, tx_hash, recipient, recipient_as_bech32, sender, sender_as_bech32, n)
    join networks n on n.slug = e.network
    cross join lateral (
      select ${addressKeyIn('n', sql`e.recipient`, sql`e.recipient_as_bech32`)} as address_key,
        ${addressKeyIn('n', sql`e.sender`, sql`e.sender_as_bech32`)} as from_key,
        case when n.type = 'evm' then lower(e.contract) else e.contract end as contract_key
    ) k
    left join tokens t on t.network_id = n.id and t.contract_key = k.contract_key
    left join addresses a on a.network_id = n.id and a.address_key = k.address_key
    ${newestRate('t.id', now)}`.execute(db)
  const targets: (EventTarget | null)[] = events.map(() => null)
  for (const row of rows) targets[row.n - 1] = toEventTarget(row)
  return targets
}

function toEventTarget(row: TargetRow): EventTarget {
  const { vault_id: vaultId, address_id: id, owner_id: ownerId, has_vault_secret: hasVaultSecret } = row
  return {
    networkId: row.network_id,
    network: row.network,
    addressKey: row.address_key,
    token: row.token_id === null ? null : { id: row.token_id, decimals: row.decimals, enabled: row.enabled },
    address: vaultId === null ? null : { vaultId, id, ownerId, hasVaultSecret },
    isInternal: row.is_internal,
    counterparty: row.counterparty,
    rate: toRateSnapshot(row),
  }
}

/** The identity of a deposit: the address stands for network and recipient, the token for the contract. */
export type DepositKey = { vaultId: string; addressId: string; tokenId: string; txHash: string; index: number }

/** The known facts of a deposit whose key was seen before. */
export type FirstDeposit = {
  id: string
  /** The raw amount; null when the deposit was orphaned before it was ever credited. */
  amount: bigint | null
  occurrence: number
  isOrphaned: boolean
}

/** Returns the deposits that have these keys, in the order of the keys. @throws when a key has no deposit */
export async function findDepositsByKey(trx: Trx, keys: DepositKey[]): Promise<FirstDeposit[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<Omit<FirstDeposit, 'amount'> & { amount: string | null }>`${prepared}
    select d.id, o.amount, d.occurrence, d.orphaned_at is not null as "isOrphaned"
    from unnest(${keys.map((k) => k.vaultId)}::text[], ${keys.map((k) => k.addressId)}::text[],
      ${keys.map((k) => k.tokenId)}::text[], ${keys.map((k) => k.txHash)}::text[], ${keys.map((k) => k.index)}::int[])
      with ordinality as k(vault_id, address_id, token_id, tx_hash, tx_index, n)
    join deposits d using (vault_id, address_id, token_id, tx_hash, tx_index)
    left join operations o on o.vault_id = d.vault_id and o.id = d.id
    order by k.n`.execute(trx)
  if (rows.length !== keys.length) throw new Error('The deposit of a known key was not found')
  return rows.map(({ amount, ...row }) => ({ ...row, amount: amount === null ? null : BigInt(amount) }))
}

/** Locks the deposit with a key and returns it; null when no event ever reported it. */
export async function lockDeposit(trx: Trx, key: DepositKey): Promise<FirstDeposit | null> {
  const { vaultId, addressId, tokenId, txHash, index } = key
  const { rows } = await sql<{ id: string }>`
    select id from deposits where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId}
      and tx_hash = ${txHash} and tx_index = ${index} for update`.execute(trx)
  return rows.length === 0 ? null : (await findDepositsByKey(trx, [key]))[0]!
}

export type DepositRow = DetailColumns & {
  address: string
  label: string | null
  tx_hash: string
  tx_index: number
  from_address: string | null
  is_dust: boolean
  blockchain_at: Date | null
  screening: ShownScreening | null
  outcome: 'credited' | 'quarantined'
  /** The reason of the quarantine. */
  reason: QuarantineReason | null
  /** The amount that was taken back; null unless the chain lost the deposit. */
  orphan: { at: string; amount: string; taken: string } | null
}

const creditedDeposits = sql`
  select o.id, o.vault_id, o.address_id, o.owner_id, o.initiator_id, a.address, a.label, n.slug as network, o.token_id,
    t.code as token_code, t.symbol as token_symbol, t.contract_address, t.decimals, o.amount, d.tx_hash, d.tx_index, d.from_address,
    o.flow_type, o.counterparty_id, o.counterparty_address_id, o.counterparty_name, o.counterparty_kind,
    trim_scale(o.usd_rate) as usd_rate, o.usd_rate_as_of, o.usd_rate_source, o.usd_value, ${isDust('o.amount', 't')} as is_dust,
    o.tags, o.payment_purpose, o.note, o.blockchain_at,
    o.created_at, ${screeningOf('deposit', sql.ref('o.vault_id'), sql.ref('o.id'))} as screening,
    'credited' as outcome, null as reason,
    case when d.orphaned_at is not null then (
      select json_build_object('at', d.orphaned_at, 'amount', x.amount::text, 'taken', x.taken::text) from deposit_orphans x
      where x.vault_id = d.vault_id and x.deposit_id = d.id and x.returned_at is null) end as orphan
  from operations o
  join deposits d on d.vault_id = o.vault_id and d.id = o.id
  join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
  join tokens t on t.id = o.token_id
  join networks n on n.id = o.network_id
  where o.type = 'deposit'`

export async function findDeposit(db: Db, scope: AddressScope, id: string): Promise<DepositRow | null> {
  const { rows } = await sql<DepositRow>`
    select d.*, ${firstCategoryKey(scope, 'd')} as category from (${creditedDeposits}) d
    where d.id = ${id} and ${isOperationInScope(scope, 'd')}`.execute(db)
  return rows[0] ?? null
}

/** Returns one page of the credited deposits that the filters leave in scope, newest first. */
export function listDeposits(
  db: Db,
  scope: AddressScope,
  filters: FeedFilters,
  page: Paging,
): Promise<FeedRows<DepositRow>> {
  return readFeed(db, scope, { ...filters, type: 'deposit' }, page, async (snapshot, ids) => {
    const { rows } = await sql<DepositRow>`
      select d.*, ${firstCategoryKey(scope, 'd')} as category from (${creditedDeposits}) d
      where d.vault_id = ${scope.vaultId} and d.id = any(${ids}::text[])`.execute(snapshot)
    return rows
  })
}

type ListOptions = Paging & { addressId: string | null }

/**
 * Returns events that contradict a credited deposit, or whose amount exceeds the account, presented like deposits. Repeated
 * events are listed once.
 */
export async function listQuarantined(db: Db, scope: AddressScope, options: ListOptions): Promise<DepositRow[]> {
  const { rows } = await sql<DepositRow>`
    select e.id, e.vault_id, a.id as address_id, a.address, a.label, n.slug as network, t.id as token_id, t.code as token_code,
      t.symbol as token_symbol, t.contract_address, t.decimals, q.amount, q."txHash" as tx_hash, q.index as tx_index,
      q."fromAddress" as from_address, coalesce(o.flow_type, 'external') as flow_type, o.counterparty_id,
      o.counterparty_address_id, o.counterparty_name, o.counterparty_kind, null as usd_rate,
      null::timestamptz as usd_rate_as_of, null as usd_rate_source, null as usd_value, ${isDust('q.amount', 't')} as is_dust,
      null as category,
      '{}'::text[] as tags, null as payment_purpose, null as note, o.blockchain_at, e.received_at as created_at,
      null as screening, 'quarantined' as outcome, e.reason, null as orphan
    from wallet_events e
    cross join lateral jsonb_to_record(e.quarantined)
      as q(amount numeric, "addressId" text, "tokenId" text, "txHash" text, index integer, "fromAddress" text)
    join addresses a on a.vault_id = e.vault_id and a.id = q."addressId"
    join tokens t on t.id = q."tokenId"
    join networks n on n.id = t.network_id
    left join operations o on o.vault_id = e.vault_id and o.id = e.deposit_id
    where e.vault_id = ${scope.vaultId} and e.outcome = 'quarantined' and e.quarantine_key is not null
      and ${isAddressInScope(scope, 'a')}
      ${options.addressId === null ? sql`` : sql`and a.id = ${options.addressId}`} ${isAfter(options.after)}
    order by e.received_at desc, e.id desc limit ${options.limit + 1}`.execute(db)
  return rows
}

/** An event that was not credited; its content is in its body. */
export type UncreditedRow = {
  id: string
  vault_id: string | null
  outcome: 'ignored' | 'unmatched'
  reason: EventReason | null
  body: string
  /** The slug if the network was known, otherwise the text of the event; null for an ignored type. */
  network: string | null
  received_at: Date
}

/**
 * Returns events of the vault that were ignored or matched no address, newest first; up to one row more than the limit. An
 * event belongs to the vault when only the secret of the vault signed it or when it names an address of the vault.
 */
export function listUncredited(
  db: Db,
  scope: AddressScope,
  { outcome, ...options }: ListOptions & { outcome: UncreditedRow['outcome'] },
): Promise<UncreditedRow[]> {
  const isNarrowed = !scope.isWholeVault || scope.folderId !== null || options.addressId !== null
  const narrowed = sql`and exists (
    select from networks n join addresses a on a.network_id = n.id and a.address_key = e.address_key
    where n.slug = e.network and ${isAddressInScope(scope, 'a')}
      ${options.addressId === null ? sql`` : sql`and a.id = ${options.addressId}`})`
  return selectUncredited(db, outcome, options, sql`e.vault_id = ${scope.vaultId} ${isNarrowed ? narrowed : sql``}`)
}

/** Returns events as `listUncredited` does, for the events whose vault is unknown. */
export function listUncreditedOfNoVault(
  db: Db,
  { outcome, ...page }: Paging & { outcome: UncreditedRow['outcome'] },
): Promise<UncreditedRow[]> {
  return selectUncredited(
    db,
    outcome,
    page,
    sql`e.vault_id is null and (e.outcome <> 'ignored' or e.reason is not null)`,
  )
}

async function selectUncredited(
  db: Db,
  outcome: UncreditedRow['outcome'],
  { after, limit }: Paging,
  condition: RawBuilder<unknown>,
): Promise<UncreditedRow[]> {
  const { rows } = await sql<UncreditedRow>`
    select e.id, e.vault_id, e.outcome, e.reason, e.body, e.network, e.received_at from wallet_events e
    where ${condition} and ${isUncredited(outcome)} ${isAfter(after)}
    order by e.received_at desc, e.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** The list is the condition of a partial index, which PostgreSQL uses only if the query contains it. */
const isUncredited = (outcome: UncreditedRow['outcome']) =>
  sql`e.outcome = ${outcome} and e.outcome in ('ignored', 'unmatched', 'quarantined')`

const isAfter = (after: Position | null) =>
  after === null ? sql`` : sql`and (e.received_at, e.id) < (${after.createdAt}, ${after.id})`

/** Inserts events; a quarantined event that exists already is not inserted again. */
export async function insertEventsOnce(trx: Trx, events: object[]): Promise<void> {
  if (events.length === 0) return
  await sql`${prepared}
    insert into wallet_events (id, received_at, body, network, address_key, outcome, reason, vault_id, deposit_id, signed_by,
      quarantined, quarantine_key)
    select id, received_at, body, network, address_key, outcome, reason, vault_id, deposit_id, signed_by, quarantined,
      quarantine_key
    from json_populate_recordset(null::wallet_events, ${JSON.stringify(events)}::json)
    on conflict (quarantine_key) where quarantine_key is not null do nothing`.execute(trx)
}

/** A quarantined event as a row, with the present state of the deposit that it contradicts. The row stays after the decision. */
export type QuarantinedEvent = {
  id: string
  outcome: string
  reason: QuarantineReason | null
  body: string
  signedBy: string[] | null
  addressId: string
  address: string
  tokenId: string
  decimals: number
  network: string
  /** The contract of the token; null for the coin of the network. */
  contract: string | null
  /** The raw amount of the event. */
  amount: string
  txHash: string
  index: number
  depositId: string | null
  /** The credited amount; null when nothing was credited. */
  credited: string | null
  /** The number of times that the deposit was orphaned, and true if it is orphaned now. */
  occurrence: number
  isOrphaned: boolean
}

/** Locks the event and the deposit that it contradicts. */
export async function lockQuarantined(trx: Trx, vaultId: string, id: string): Promise<QuarantinedEvent | null> {
  await sql`
    select from operations o join wallet_events e on e.vault_id = o.vault_id and e.deposit_id = o.id
    where e.vault_id = ${vaultId} and e.id = ${id} for update of o`.execute(trx)
  return findQuarantined(trx, vaultId, id, sql`for update of e`)
}

export async function findQuarantined(
  db: Db | Trx,
  vaultId: string,
  id: string,
  lock: RawBuilder<unknown> = sql``,
): Promise<QuarantinedEvent | null> {
  const { rows } = await sql<QuarantinedEvent>`
    select e.id, e.outcome, e.reason, e.body, e.signed_by as "signedBy", a.id as "addressId", a.address,
      t.id as "tokenId", t.decimals, n.slug as network, t.contract_address as contract, q.amount::text as amount,
      q."txHash", q.index, e.deposit_id as "depositId", o.amount::text as credited,
      coalesce(d.occurrence, 0) as occurrence, d.orphaned_at is not null as "isOrphaned"
    from wallet_events e
    cross join lateral jsonb_to_record(e.quarantined)
      as q(amount numeric, "addressId" text, "tokenId" text, "txHash" text, index integer)
    join addresses a on a.vault_id = e.vault_id and a.id = q."addressId"
    join tokens t on t.id = q."tokenId"
    join networks n on n.id = t.network_id
    left join operations o on o.vault_id = e.vault_id and o.id = e.deposit_id
    left join deposits d on d.vault_id = e.vault_id and d.id = e.deposit_id
    where e.vault_id = ${vaultId} and e.id = ${id} ${lock}`.execute(db)
  return rows[0] ?? null
}

/** Ends the quarantine of a locked event. Its key stays, so that the same event is not quarantined again. */
export async function resolveQuarantined(
  trx: Trx,
  { id }: QuarantinedEvent,
  { outcome, depositId }: { outcome: 'credited' | 'orphaned' | 'dismissed'; depositId: string | null },
): Promise<void> {
  await sql`
    update wallet_events set outcome = ${outcome}, deposit_id = ${depositId}
    where id = ${id} and outcome = 'quarantined'`.execute(trx)
}
