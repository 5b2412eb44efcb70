import { type RawBuilder, sql } from 'kysely'
import { isAddressInScope, isFolderVisible, isOperationInScope } from '../../../access/address-scope.ts'
import type { Trx } from '../../../db/client.ts'
import { isAssignmentVisible } from '../../operations/assignments/visibility.ts'
import type {
  AddressDetails,
  Asset,
  CounterpartyDetails,
  Group,
  Keyed,
  OperationStatus,
  OperationType,
  OrderStatistics,
  Overall,
  OwnerDetails,
} from './activity.ts'
import type { ApprovalCount, ApprovalTimes } from './blocks/approvals.ts'
import type { Compared } from './blocks/comparison.ts'
import type { Interval } from './buckets.ts'
import { centsOf } from './exact.ts'
import {
  type Classification,
  dateOf,
  isCounted,
  isReported,
  isUndated,
  laterMatches,
  type OperationFilter,
  pastMemberships,
} from './operation-filter.ts'

type GroupRow = {
  breakdown: keyof Groups
  token_id: string
  type: OperationType
  status: OperationStatus
  /** The day as a number, an id or a key; null of `overall`. */
  key: string | null
  count: number
  amount: string
  usd: string | null
  rated: number
}

/** A row of `overall`; in the rows of all breakdowns these are null. */
type OverallRow = GroupRow & {
  largest_usd: string | null
  first_at: Date
  last_at: Date
  without_blockchain_time: number
  without_payment_purpose: number
  without_business_reference: number
  uncategorized: number
  unmatched: number
  retroactively_matched: number
  conflicting_counterparty: number
  reclassified: number
}

export type Groups = {
  overall: Overall[]
  byDay: Keyed<number>[]
  byAddress: Keyed<string>[]
  byCounterparty: Keyed<string | null>[]
  byCategory: Keyed<string | null>[]
}

/**
 * All operations of the report in one pass, added up by everything that a block is broken down by. The cells of that pass
 * stay in PostgreSQL; what arrives here grows with the days, addresses, counterparties and categories, not with operations.
 *
 * @param dayStarts the first instant of every day of the interval, in order
 */
export async function sumOperations(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  dayStarts: readonly Date[],
): Promise<Groups> {
  const { vaultId } = filter.scope
  const reported = isReported(filter, interval)
  const date = dateOf(filter)
  // As seconds, because PostgreSQL looks up doubles much faster than timestamps; milliseconds fit exactly enough.
  const starts = dayStarts.map((start) => start.getTime() / 1000)
  const has = await findSideTables(trx, filter, interval)
  const keys = [
    sql`o.token_id`,
    sql`o.type`,
    sql`o.status`,
    sql`width_bucket(date_part('epoch', ${date}), ${starts}::float8[]) - 1 as day`,
    sql`o.counterparty_id`,
    sql`o.counterparty_address_id`,
  ]
  // Each key of a million rows takes its time, so what is the same for all of them is none.
  const onlyAddressId = filter.addressIdLists.find((ids) => ids.length === 1)?.[0]
  if (onlyAddressId === undefined) keys.push(sql`o.address_id`)
  if (has.laterEntries) keys.push(sql`later.counterparty_id as later_id`)
  if (has.assignments) keys.push(sql`c.key as category`)
  const breakdowns = [
    sumsBy('byDay', sql`day`, sql`classified`),
    sumsBy('byCounterparty', sql`chosen_id`, sql`parties`),
    ...(onlyAddressId === undefined ? [sumsBy('byAddress', sql`address_id`, sql`classified`)] : []),
    ...(has.assignments ? [sumsBy('byCategory', sql`category`, sql`classified`)] : []),
  ]
  const isLater = filter.dateBasis === 'createdAt' ? sql`s.created_at >= ${interval.from}` : sql`true`
  const { rows } = await sql<OverallRow>`
    with ${has.laterEntries ? sql`later as materialized (${laterMatches(vaultId, isLater, reported)}),` : sql``}
    cells as (
      select ${sql.join(keys)},
        count(*) as count, sum(o.amount) as amount, sum(o.usd_value) as usd, count(o.usd_value) as rated,
        max(o.usd_value) as largest_usd,
        min(${date}) as first_at, max(${date}) as last_at,
        count(*) filter (where ${lacksBlockchainTime}) as without_blockchain_time,
        count(*) filter (where ${lacksPaymentPurpose}) as without_payment_purpose,
        count(*) filter (where ${lacksBusinessReference}) as without_business_reference,
        count(*) filter (where o.flow_type = 'external') as external
      from operations o
      ${has.laterEntries ? sql`left join later on later.id = o.id` : sql``}
      ${has.assignments ? joinFirstAssignment(filter) : sql``}
      where ${reported}
      group by ${sql.join(keys.map((_, index) => sql.lit(index + 1)))}
    ), found as (
      select cells.*, ${has.laterEntries ? sql`coalesce(cells.later_id, s.counterparty_id)` : sql`s.counterparty_id`} as current_id
        ${has.assignments ? sql`` : sql`, null::text as category`}
      from cells left join counterparty_addresses s on s.vault_id = ${vaultId} and s.id = cells.counterparty_address_id
    ), classified as materialized (
      select found.*, ${chosenId(filter.counterpartyClassification)} as chosen_id from found
    ), parties as materialized (
      select token_id, type, status, chosen_id,
        sum(count) as count, sum(amount) as amount, sum(usd) as usd, sum(rated) as rated,
        max(largest_usd) as largest_usd, min(first_at) as first_at, max(last_at) as last_at,
        sum(without_blockchain_time) as without_blockchain_time,
        sum(without_payment_purpose) as without_payment_purpose,
        sum(without_business_reference) as without_business_reference,
        sum(case when category is null then count else 0 end) as uncategorized,
        sum(case when chosen_id is null then external else 0 end) as unmatched,
        sum(case when counterparty_id is null and current_id is not null then count else 0 end) as retroactively_matched,
        sum(case when counterparty_id <> current_id then count else 0 end) as conflicting_counterparty,
        sum(case when counterparty_id is distinct from current_id then count else 0 end) as reclassified
      from classified group by token_id, type, status, chosen_id
    )
    select 'overall' as breakdown, token_id, type, status, null as key, ${sums},
      max(largest_usd) as largest_usd, min(first_at) as first_at, max(last_at) as last_at,
      sum(without_blockchain_time)::float8 as without_blockchain_time,
      sum(without_payment_purpose)::float8 as without_payment_purpose,
      sum(without_business_reference)::float8 as without_business_reference,
      sum(uncategorized)::float8 as uncategorized, sum(unmatched)::float8 as unmatched,
      sum(retroactively_matched)::float8 as retroactively_matched,
      sum(conflicting_counterparty)::float8 as conflicting_counterparty, sum(reclassified)::float8 as reclassified
    from parties group by token_id, type, status
    union all ${sql.join(breakdowns, sql` union all `)}`.execute(trx)
  const overall = rows.filter(({ breakdown }) => breakdown === 'overall').map(toOverall)
  const keyed = (wanted: keyof Groups) =>
    rows.filter(({ breakdown }) => breakdown === wanted).map((row) => ({ ...toGroup(row), key: row.key }))
  return {
    overall,
    byDay: keyed('byDay').map((group) => ({ ...group, key: Number(group.key) })),
    byAddress:
      onlyAddressId === undefined
        ? keyed('byAddress').map((group) => ({ ...group, key: group.key! }))
        : overall.map((group) => ({ ...group, key: onlyAddressId })),
    byCounterparty: keyed('byCounterparty'),
    byCategory: has.assignments ? keyed('byCategory') : overall.map((group) => ({ ...group, key: null })),
  }
}

const sums = sql`sum(count)::float8 as count, sum(amount) as amount, sum(usd) as usd, sum(rated)::float8 as rated`

/** SQL: the sums of `source` by `key`, with nothing of what is asked of the whole only. */
function sumsBy(breakdown: keyof Groups, key: RawBuilder<unknown>, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${sql.lit(breakdown)}, token_id, type, status, ${key}::text, ${sums},
      null, null, null, null, null, null, null, null, null, null, null
    from ${source} group by token_id, type, status, ${key}`
}

const chosenId = (classification: Classification) =>
  classification === 'current' ? sql`current_id` : sql`counterparty_id`

/** SQL conditions of the operation `o` that data quality counts and the list of exceptions names. */
export const lacksUsdRate = sql<boolean>`o.usd_value is null`
export const lacksBlockchainTime = sql<boolean>`(o.status = 'confirmed' and o.blockchain_at is null)`
export const lacksPaymentPurpose = sql<boolean>`coalesce(o.payment_purpose, '') = ''`
export const lacksBusinessReference = sql<boolean>`(coalesce(o.note, '') = '' and o.tags = '{}')`

/** Whether what most vaults have none of needs a look at all: entries of the book made since, assigned categories. */
async function findSideTables(trx: Trx, { scope, dateBasis }: OperationFilter, { from }: Interval) {
  const isLate = dateBasis === 'createdAt' ? sql`s.created_at >= ${from}` : sql`true`
  const { rows } = await sql<{ laterEntries: boolean; assignments: boolean }>`
    select exists (select from counterparty_addresses s where s.vault_id = ${scope.vaultId} and ${isLate}) as "laterEntries",
      exists (select from category_assignments a where a.vault_id = ${scope.vaultId}) as assignments`.execute(trx)
  return rows[0]!
}

/**
 * SQL: joins the first category of the operation `o` that whoever asks may see, as `c`. One join, not a subquery, so that
 * PostgreSQL may begin with the few operations of a small report or with the few assignments of a large one.
 */
function joinFirstAssignment({ scope }: OperationFilter): RawBuilder<unknown> {
  return sql`
    left join (category_assignments a
      join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id)
    on a.vault_id = ${scope.vaultId} and a.operation_id = o.id and ${isAssignmentVisible(scope, 'a', 'c', 'o')}
      and not exists (select from category_assignments b
        join operation_categories d on d.vault_id = b.vault_id and d.id = b.category_id
        where b.vault_id = a.vault_id and b.operation_id = a.operation_id
          and (b.position, b.created_at, b.id) < (a.position, a.created_at, a.id)
          and ${isAssignmentVisible(scope, 'b', 'd', 'o')})`
}

function toGroup({ token_id, type, status, count, amount, usd, rated }: GroupRow): Group {
  return { tokenId: token_id, type, status, count, amount: BigInt(amount), usd: centsOf(usd), rated }
}

function toOverall(row: OverallRow): Overall {
  return {
    ...toGroup(row),
    largestUsd: row.largest_usd === null ? null : centsOf(row.largest_usd),
    firstAt: row.first_at,
    lastAt: row.last_at,
    faults: {
      withoutBlockchainTime: row.without_blockchain_time,
      withoutPaymentPurpose: row.without_payment_purpose,
      withoutBusinessReference: row.without_business_reference,
      uncategorized: row.uncategorized,
      unmatched: row.unmatched,
      retroactivelyMatched: row.retroactively_matched,
      conflictingCounterparty: row.conflicting_counterparty,
      reclassified: row.reclassified,
    },
  }
}

/**
 * The ranks, as shares of the number of values, of the lower and the upper middle: of n values percentile_disc takes the
 * one at rank ceil(share × n), and the second share lifts only an even n/2 to n/2 + 1, for any n below 500 million.
 */
export const middles = sql`array[0.5, 0.500000001]::float8[]`

/** So many tokens are told apart as operations are read; each of them costs every operation a comparison. */
const comparedTokensMax = 16

/**
 * The least, the two middle and the greatest amount of every token, of the operations that count; one sort finds all.
 *
 * @param tokenIds the tokens of the operations that count, each once
 */
export async function listOrderStatistics(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  tokenIds: readonly string[],
): Promise<Map<string, OrderStatistics>> {
  const found = sql`percentile_disc(array_cat(${middles}, array[0, 1]::float8[])) within group (order by o.amount)`
  const counted = sql`from operations o where ${isReported(filter, interval)} and ${isCounted(filter)}`
  if (tokenIds.length === 0) return new Map()
  if (tokenIds.length > comparedTokensMax) {
    const { rows } = await sql<{ token_id: string; found: string[] }>`
      select o.token_id, (${found})::text[] as found ${counted} group by o.token_id`.execute(trx)
    return new Map(rows.map((row) => [row.token_id, toOrderStatistics(row.found)]))
  }
  // Grouping would sort whole operations by their token before it sorts amounts, which takes longer than to compare.
  const ofTokens = tokenIds.map((id) => sql`${found} filter (where o.token_id = ${id})`)
  const { rows } = await sql<{ found: string[][] }>`
    select array[${sql.join(ofTokens)}]::text[] as found ${counted}`.execute(trx)
  return new Map(tokenIds.map((id, index) => [id, toOrderStatistics(rows[0]!.found[index]!)]))
}

function toOrderStatistics(found: string[]): OrderStatistics {
  const [lower, upper, smallest, largest] = found.map(BigInt)
  return { lower: lower!, upper: upper!, smallest: smallest!, largest: largest! }
}

/** Operations and USD of another interval, for comparing. */
export async function compareOperations(trx: Trx, filter: OperationFilter, interval: Interval): Promise<Compared> {
  const { rows } = await sql<{ operations: number; rated: number; incoming: string | null; outgoing: string | null }>`
    select count(*)::float8 as operations,
      count(o.usd_value) filter (where ${isCounted(filter)})::float8 as rated,
      sum(o.usd_value) filter (where o.type = 'deposit' and ${isCounted(filter)}) as incoming,
      sum(o.usd_value) filter (where o.type = 'transfer' and ${isCounted(filter)}) as outgoing
    from operations o where ${isReported(filter, interval)}`.execute(trx)
  const { operations, rated, incoming, outgoing } = rows[0]!
  return {
    incomingUsd: centsOf(incoming),
    outgoingUsd: centsOf(outgoing),
    operationsCount: operations,
    ratedCount: rated,
  }
}

export async function findAssets(trx: Trx, ids: readonly string[]): Promise<Map<string, Asset>> {
  const { rows } = await sql<Asset>`
    select t.id as "tokenId", t.code as "assetCode", t.symbol as "assetSymbol", n.slug as network,
      t.contract_address as "contractAddress", t.decimals
    from tokens t join networks n on n.id = t.network_id where t.id = any(${ids}::text[])`.execute(trx)
  return new Map(rows.map((asset) => [asset.tokenId, asset]))
}

/**
 * Names and kinds of counterparties: as they are, or as they were at the last operation of the scope with them before the
 * interval ended.
 */
export async function findCounterparties(
  trx: Trx,
  { scope, counterpartyClassification }: OperationFilter,
  { to }: Interval,
  ids: readonly string[],
): Promise<Map<string, CounterpartyDetails>> {
  if (ids.length === 0) return new Map()
  const found =
    counterpartyClassification === 'current'
      ? sql<CounterpartyDetails & { id: string }>`
        select id, name, kind from counterparties where vault_id = ${scope.vaultId} and id = any(${ids}::text[])`
      : sql<CounterpartyDetails & { id: string }>`
        select wanted.id, then_called.name, then_called.kind
        from unnest(${ids}::text[]) wanted(id) cross join lateral (
          select o.counterparty_name as name, o.counterparty_kind as kind from operations o
          where o.vault_id = ${scope.vaultId} and o.counterparty_id = wanted.id and o.created_at < ${to}
            and ${isOperationInScope(scope, 'o')}
          order by o.created_at desc, o.id desc limit 1) then_called`
  const { rows } = await found.execute(trx)
  return new Map(rows.map(({ id, name, kind }) => [id, { name, kind }]))
}

/** Addresses with the folders that they are in, or were in when an operation of the report was created. */
export async function findAddresses(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  ids: readonly string[],
): Promise<Map<string, AddressDetails & { ownerId: string }>> {
  const { scope } = filter
  const folders =
    filter.folderClassification === 'current'
      ? sql`select m.address_id, f.id, f.name from address_group_members m
          join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
          where m.vault_id = ${scope.vaultId} and m.address_id = any(${ids}::text[]) and ${isFolderVisible(scope, 'f')}`
      : sql`select distinct l.address_id, l.group_id as id, coalesce(f.name, l.group_name) as name ${pastMemberships(scope)}
          and l.address_id = any(${ids}::text[])
          and exists (select from operations o where ${isReported(filter, interval)} and o.address_id = l.address_id
            and o.created_at >= l.added_at and (l.removed_at is null or o.created_at < l.removed_at))`
  const { rows } = await sql<AddressDetails & { id: string; ownerId: string }>`
    with folders as (${folders}), snapshots as (
      select address_id, json_agg(json_build_object('id', id, 'name', name) order by name, id) as list
      from folders group by address_id
    )
    select a.id, a.address, a.label, a.derivation_path as "derivationPath", a.segments, a.owner_id as "ownerId",
      coalesce(snapshots.list, '[]') as "folderSnapshots"
    from addresses a left join snapshots on snapshots.address_id = a.id
    where a.vault_id = ${scope.vaultId} and a.id = any(${ids}::text[])`.execute(trx)
  return new Map(rows.map(({ id, ...details }) => [id, details]))
}

export async function findOwners(trx: Trx, ids: readonly string[]): Promise<Map<string, OwnerDetails>> {
  const { rows } = await sql<OwnerDetails>`
    select id, name, username, image, color, emoji from users where id = any(${ids}::text[])`.execute(trx)
  return new Map(rows.map((owner) => [owner.id, owner]))
}

/** SQL condition: the operation `o` is a transfer that needed votes which nobody waived. */
export const neededApproval = sql<boolean>`(o.type = 'transfer' and exists (select from approval_requirements q
  where q.vault_id = o.vault_id and q.subject_id = o.id and not q.bypassed))`

/** SQL condition: the votes that the transfer `o` needed were given. */
export const wasApproved = sql<boolean>`o.status in ('pending', 'confirmed', 'failed')`

/** SQL: milliseconds from the creation of the transfer `o` to the vote that approved it. */
export const approvalMilliseconds = sql`(select round(extract(epoch from max(v.voted_at) - o.created_at) * 1000)
  from approval_voters v where v.vault_id = o.vault_id and v.subject_id = o.id and v.decision = 'approve')`

export type Approvals = { counts: ApprovalCount[]; times: ApprovalTimes | null }

/** Transfers of the report that needed votes: by status, and how long approved ones waited. */
export async function summarizeVotes(trx: Trx, filter: OperationFilter, interval: Interval): Promise<Approvals> {
  const { rows } = await sql<TimesRow & { status: OperationStatus | null; count: number }>`
    with asked as (
      select o.status, case when ${wasApproved} then round(extract(epoch from max(v.voted_at) - o.created_at) * 1000) end as waited
      from operations o
      left join approval_voters v on v.vault_id = o.vault_id and v.subject_id = o.id and v.decision = 'approve'
      where ${isReported(filter, interval)} and ${neededApproval}
      group by o.vault_id, o.id
    )
    select status, count(*)::float8 as count, ${timesOf}
    from asked group by grouping sets ((status), ())`.execute(trx)
  const overall = rows.find(({ status }) => status === null)
  return {
    counts: rows.flatMap(({ status, count }) => (status === null ? [] : [{ status, count }])),
    times: overall === undefined ? null : toTimes(overall),
  }
}

/** How long the approved transfers of each policy waited that decided about them. */
export async function listVotesByPolicy(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
): Promise<{ policyId: string; policyCode: string; times: ApprovalTimes }[]> {
  const { rows } = await sql<TimesRow & { policy_id: string; policy_code: string }>`
    with asked as (
      select t.decision_policy_id as policy_id, t.decision_policy_code as policy_code, ${approvalMilliseconds} as waited
      from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
      where ${isReported(filter, interval)} and ${neededApproval} and ${wasApproved} and t.decision_policy_id is not null
    )
    select policy_id, max(policy_code) as policy_code, ${timesOf}
    from asked group by policy_id order by policy_id`.execute(trx)
  return rows.flatMap((row) => {
    const times = toTimes(row)
    return times === null ? [] : [{ policyId: row.policy_id, policyCode: row.policy_code, times }]
  })
}

/** SQL: what `toTimes` reads, of a column `waited` in milliseconds. */
export const timesOf = sql`count(waited)::float8 as timed, sum(waited) as sum,
  (percentile_disc(${middles}) within group (order by waited))::text[] as middles, max(waited) as longest`

/** Waiting times in milliseconds, as numeric sums. */
export type TimesRow = { timed: number; sum: string | null; middles: string[] | null; longest: string | null }

export function toTimes(row: TimesRow): ApprovalTimes | null {
  if (row.timed === 0) return null
  const [lower, upper] = row.middles!
  return {
    count: row.timed,
    sum: BigInt(row.sum!),
    lower: BigInt(lower!),
    upper: BigInt(upper!),
    longest: BigInt(row.longest!),
  }
}

export async function countUndated(trx: Trx, filter: OperationFilter, interval: Interval): Promise<number> {
  if (filter.dateBasis === 'createdAt') return 0
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from operations o where ${isUndated(filter, interval)}`.execute(trx)
  return rows[0]!.count
}

/**
 * SQL condition: the books lack the entry that brought the operation `o` to its status: the deposit, the reservation of an
 * open transfer, the settlement of a confirmed one, the release of any other. `strongroom ledger verify` checks all entries.
 */
export const lacksEntry = sql<boolean>`not exists (select from ledger_entries e where e.vault_id = o.vault_id
  and e.operation_id = o.id and e.kind = case when o.type = 'deposit' then 'deposit' when o.status = 'confirmed' then 'settle'
    when o.status in ('awaiting_approval', 'pending') then 'reserve' else 'release' end)`

/** From so many operations on, merging two indexes takes half the time of hashing one of them. */
const mergedOperationsMin = 100_000

/** @param overall the sums of the operations of the report */
export async function countMissingEntries(
  trx: Trx,
  filter: OperationFilter,
  interval: Interval,
  overall: readonly Overall[],
): Promise<number> {
  // PostgreSQL thinks otherwise: it hashes in several processes, more than a hundred megabytes for a million operations.
  const isMerged = overall.reduce((sum, { count }) => sum + count, 0) >= mergedOperationsMin
  if (isMerged) await sql`select set_config('enable_hashjoin', 'off', true)`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from operations o where ${isReported(filter, interval)} and ${lacksEntry}`.execute(
    trx,
  )
  if (isMerged) await sql`select set_config('enable_hashjoin', 'on', true)`.execute(trx)
  return rows[0]!.count
}

export type AccountDifference = {
  accountId: string
  addressId: string
  tokenId: string
  purpose: 'available' | 'reserved'
  balance: string
  balanceOfEntries: string
  decimals: number
}

/**
 * Accounts of the addresses of the report whose balance is not the one that their newest entry left. Filters that name
 * addresses, folders, tokens and networks hold; those of operations do not.
 */
export async function listAccountDifferences(trx: Trx, filter: OperationFilter): Promise<AccountDifference[]> {
  const { rows } = await sql<AccountDifference>`
    select l.id as "accountId", l.address_id as "addressId", l.token_id as "tokenId", l.purpose, l.balance,
      coalesce(newest.balance, 0) as "balanceOfEntries", k.decimals
    from ledger_accounts l
    join tokens k on k.id = l.token_id
    left join lateral (
      select balance from (
        (select created_at, sequence, debit_balance as balance from ledger_entries where debit_account = l.number
          order by created_at desc, sequence desc limit 1)
        union all
        (select created_at, sequence, credit_balance from ledger_entries where credit_account = l.number
          order by created_at desc, sequence desc limit 1)
      ) sides order by created_at desc, sequence desc limit 1) newest on true
    where l.vault_id = ${filter.scope.vaultId} and l.address_id <> ''
      and l.address_id in (${reportedAddressIds(filter)}) and ${isReportedToken(filter, 'l.token_id')}
      and l.balance <> coalesce(newest.balance, 0)
    order by l.id limit 1000`.execute(trx)
  return rows
}

/** SQL: the addresses in the scope of the report that its filters of addresses and folders (as they are now) leave. */
export function reportedAddressIds({ scope, addressIdLists, folderIdLists }: OperationFilter): RawBuilder<unknown> {
  const narrowed = addressIdLists.map((ids) => sql`a.id = any(${ids}::text[])`)
  for (const ids of folderIdLists) {
    narrowed.push(sql`a.id in (select m.address_id from address_group_members m
      join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
      where m.vault_id = ${scope.vaultId} and m.group_id = any(${ids}::text[]) and ${isFolderVisible(scope, 'f')})`)
  }
  const conditions = [isAddressInScope(scope, 'a'), ...narrowed]
  return sql`select a.id from addresses a where ${sql.join(conditions, sql` and `)}`
}

/** SQL condition: the token with this id is one that the report is about. */
export function isReportedToken(
  { tokenIds, assets, networkIds }: OperationFilter,
  column: string,
): RawBuilder<boolean> {
  const conditions: RawBuilder<unknown>[] = []
  if (tokenIds !== null) conditions.push(sql`w.id = any(${tokenIds}::text[])`)
  if (assets !== null) conditions.push(sql`w.code = any(${assets}::text[])`)
  if (networkIds !== null) {
    const ids = sql`${networkIds}::text[]`
    conditions.push(
      sql`exists (select from networks n where n.id = w.network_id and (n.id = any(${ids}) or n.slug = any(${ids})))`,
    )
  }
  if (conditions.length === 0) return sql<boolean>`true`
  return sql<boolean>`${sql.ref(column)} in (select w.id from tokens w where ${sql.join(conditions, sql` and `)})`
}

/** SQL: relations whose source is in the report that cannot be right, both ends of which are in its scope. */
export function invalidRelations(filter: OperationFilter, interval: Interval): RawBuilder<unknown> {
  const { scope } = filter
  return sql`
    select r.id, r.source_operation_id
    from operation_relations r
    join operations o on o.vault_id = r.vault_id and o.id = r.source_operation_id
    join operations target on target.vault_id = r.vault_id and target.id = r.target_operation_id
    where r.vault_id = ${scope.vaultId} and ${isReported(filter, interval)} and ${isOperationInScope(scope, 'target')} and (
      (r.related_amount is not null and (r.token_id <> o.token_id or r.token_id <> target.token_id))
      or (r.relation_type in ('refund', 'reversal') and (
        o.status in ('failed', 'rejected', 'cancelled') or target.status in ('failed', 'rejected', 'cancelled')
        or target.amount < (
          select coalesce(sum(x.related_amount), 0) from operation_relations x
          join operations paid on paid.vault_id = x.vault_id and paid.id = x.source_operation_id
          where x.vault_id = r.vault_id and x.target_operation_id = r.target_operation_id
            and x.relation_type in ('refund', 'reversal') and ${isOperationInScope(scope, 'paid')}))))`
}

export async function countInvalidRelations(trx: Trx, filter: OperationFilter, interval: Interval): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from (${invalidRelations(filter, interval)}) invalid`.execute(trx)
  return rows[0]!.count
}
