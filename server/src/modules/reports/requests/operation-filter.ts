import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isFolderVisible, isOperationInScope } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { badRequest } from '../../../lib/errors.ts'
import type { FlowType, OperationStatus } from '../../../lib/operations.ts'
import { hasCategoryRight } from '../../operations/categories/rights.ts'
import type { Interval } from './buckets.ts'
import { type FeeFilter, hasFee } from './fee-kinds.ts'
import { isVotedBy } from './needed-votes.ts'
import type { classifications, dateBases } from './schema.ts'

type DateBasis = (typeof dateBases)[number]
export type Classification = (typeof classifications)[number]

/** A field that one assignment must have with one of these canonical values. */
export type FieldCondition = { key: string; values: string[] }

/** The filters that select the operations of a report. A filter that is null is not applied. */
export type OperationFilter = FeeFilter & {
  scope: AddressScope
  interval: Interval
  dateBasis: DateBasis
  counterpartyClassification: Classification
  folderClassification: Classification
  statuses: OperationStatus[] | null
  flowTypes: FlowType[] | null
  tokenIds: string[] | null
  /** Codes of tokens. */
  assets: string[] | null
  /** The ids or slugs of networks. */
  networkIds: string[] | null
  /** The lists combine: an operation must be on an address of each list. */
  addressIdLists: string[][]
  folderIdLists: string[][]
  counterpartyIdLists: string[][]
  counterpartyGroupIdLists: string[][]
  counterpartyAddressIds: string[] | null
  /** Keys of categories, with the meaning of `category` in the history. */
  categories: string[] | null
  /** Keys of categories; `categoryFields` tests the assignment that has one of them. */
  categoryKeys: string[] | null
  categoryFields: FieldCondition[]
  initiatorIds: string[] | null
  /** Policies, one of which asked for votes that were not waived. */
  approvalPolicyIds: string[] | null
  /** The amount in token units, a plain decimal. */
  minimumAmount: string | null
  maximumAmount: string | null
  /** The ids of a few operations that include all operations of the report; null when they are many, see `nameFew`. */
  operationIds: string[] | null
  /** The common table of a statement with the result of `laterMatches`, for conditions of the same statement. */
  later?: RawBuilder<unknown>
}

const dateColumns: Readonly<Record<DateBasis, string>> = {
  createdAt: 'o.created_at',
  blockchainAt: 'o.blockchain_at',
  confirmedAt: 'o.confirmed_at',
  feeBookedAt: 'o.fee_booked_at',
}

/** SQL: the date of the operation `o` that the report uses. */
export const dateOf = (filter: Pick<OperationFilter, 'dateBasis'>) => sql.ref<Date>(dateColumns[filter.dateBasis])

/** SQL condition: the operation `o` is in the report. */
export function isReported(filter: OperationFilter): RawBuilder<boolean> {
  const { from, to } = filter.interval
  const date = dateOf(filter)
  return sql<boolean>`${isWanted(filter)} and ${isAmong(filter, 'o.id')} and ${date} >= ${from} and ${date} < ${to}`
}

/** Returns true if the report covers certain counterparties only. */
export const isByCounterparty = ({ counterpartyIdLists, counterpartyGroupIdLists }: OperationFilter) =>
  counterpartyIdLists.length + counterpartyGroupIdLists.length > 0

/** SQL condition that every operation `o` of the report meets, and some others. It omits the tests that take long. */
export function mayBeReported(filter: OperationFilter): RawBuilder<boolean> {
  return isReported({ ...filter, counterpartyIdLists: [], counterpartyGroupIdLists: [] })
}

/** SQL condition: the column has the id of an operation that may be in the report. */
export function isAmong({ operationIds }: Pick<OperationFilter, 'operationIds'>, column: string): RawBuilder<boolean> {
  return operationIds === null ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = any(${operationIds}::text[])`
}

/**
 * SQL condition: the operation `o` was created in the interval and matches every other filter of the report, but does not have
 * the date of `dateBasis`.
 */
export function isUndated(filter: OperationFilter): RawBuilder<boolean> {
  const { from, to } = filter.interval
  const undated = isWanted({ ...filter, operationIds: null })
  return sql<boolean>`${undated} and ${dateOf(filter)} is null and o.created_at >= ${from} and o.created_at < ${to}`
}

/** SQL condition: the operation `o` enters sums. */
export function isCounted({ statuses }: OperationFilter): RawBuilder<boolean> {
  return statuses === null ? sql<boolean>`o.status = 'confirmed'` : sql<boolean>`true`
}

/** Returns a function that is true for a status whose operations enter sums. */
export function countedStatusOf({ statuses }: OperationFilter): (status: OperationStatus) => boolean {
  return statuses === null ? (status) => status === 'confirmed' : () => true
}

/** Returns true if the report covers certain assignments only. */
export const isByCategory = ({ categoryKeys, categoryFields }: OperationFilter): boolean =>
  categoryKeys !== null || categoryFields.length > 0

/** SQL condition: the operation `o` matches every filter except the filter by date. */
export function isWanted(filter: OperationFilter): RawBuilder<boolean> {
  const { scope } = filter
  const { vaultId } = scope
  const all: RawBuilder<unknown>[] = [sql`o.vault_id = ${vaultId}`, isOperationInScope(scope, 'o')]
  const anyOf = (column: string, values: string[] | null) => {
    if (values !== null) all.push(sql`${sql.ref(column)} = any(${values}::text[])`)
  }
  anyOf('o.status', filter.statuses)
  anyOf('o.flow_type', filter.flowTypes)
  anyOf('o.token_id', filter.tokenIds)
  anyOf('o.initiator_id', filter.initiatorIds)
  for (const ids of filter.addressIdLists) anyOf('o.address_id', ids)
  if (filter.assets !== null)
    all.push(sql`o.token_id in (select id from tokens where code = any(${filter.assets}::text[]))`)
  if (filter.networkIds !== null) {
    const ids = sql`${filter.networkIds}::text[]`
    all.push(sql`o.network_id in (select id from networks where id = any(${ids}) or slug = any(${ids}))`)
  }
  for (const ids of filter.folderIdLists) all.push(isInFolder(filter, ids))
  all.push(isWithCounterparties(filter))
  anyOf('o.counterparty_address_id', filter.counterpartyAddressIds)
  if (filter.categories !== null) {
    all.push(isCategorized({ scope, categoryKeys: filter.categories, categoryFields: [] }))
  }
  if (isByCategory(filter)) all.push(isCategorized(filter))
  if (filter.feePayerIds !== null || filter.feeKinds !== null) all.push(hasFee(scope, filter))
  if (filter.approvalPolicyIds !== null) all.push(isVotedBy(filter, filter.approvalPolicyIds))
  if (filter.minimumAmount !== null) all.push(isAmount('>=', filter.minimumAmount))
  if (filter.maximumAmount !== null) all.push(isAmount('<=', filter.maximumAmount))
  return sql<boolean>`${sql.join(all, sql` and `)}`
}

function isAmount(comparison: '>=' | '<=', amount: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from tokens k where k.id = o.token_id
    and o.amount ${sql.raw(comparison)} ${amount}::numeric * ('1e' || k.decimals)::numeric)`
}

/** SQL condition: the operation is in one of these folders that the viewer may see: now, or when it was created. */
function isInFolder({ scope, folderClassification }: OperationFilter, ids: string[]): RawBuilder<boolean> {
  if (folderClassification === 'current') {
    return sql<boolean>`o.address_id in (${addressesIn(scope, ids)})`
  }
  return sql<boolean>`exists (select ${pastMemberships(scope)}
    and l.address_id = o.address_id and l.group_id = any(${ids}::text[])
    and l.added_at <= o.created_at and (l.removed_at is null or l.removed_at > o.created_at))`
}

/** SQL: the addresses that are in one of these folders that the viewer may see. */
export const addressesIn = (scope: AddressScope, folderIds: string[]) => sql`
  select m.address_id from address_group_members m
  join address_groups f on f.vault_id = m.vault_id and f.id = m.group_id
  where m.vault_id = ${scope.vaultId} and m.group_id = any(${folderIds}::text[]) and ${isFolderVisible(scope, 'f')}`

/** SQL after `select`: current and past memberships `l` of folders that the viewer may see, with `f` if it still exists. */
export function pastMemberships(scope: AddressScope): RawBuilder<unknown> {
  const { readsAll, userId } = scope.viewer
  return sql`from address_group_membership_log l
    left join address_groups f on f.vault_id = l.vault_id and f.id = l.group_id
    where l.vault_id = ${scope.vaultId} and (${isFolderVisible(scope, 'f')}
      or (f.id is null and ${readsAll ? sql`true` : sql`l.manager_id = ${userId}`}))`
}

/** SQL condition: the operation `o` is with counterparties of every list. */
export function isWithCounterparties(filter: OperationFilter): RawBuilder<boolean> {
  const ofGroups = (ids: string[]) => sql`(select m.counterparty_id from counterparty_group_memberships m
    where m.vault_id = ${filter.scope.vaultId} and m.group_id = any(${ids}::text[]))`
  const all = [
    ...filter.counterpartyIdLists.map((ids) => sql`(select unnest(${ids}::text[]))`),
    ...filter.counterpartyGroupIdLists.map(ofGroups),
  ].map((ids) => isWithCounterparty(filter, ids))
  return all.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(all, sql` and `)}`
}

/**
 * SQL condition: the operation is with one of the counterparties that `ids`, a subquery, names: by the current address book, or
 * by the recorded counterparty.
 */
function isWithCounterparty(filter: OperationFilter, ids: RawBuilder<unknown>): RawBuilder<boolean> {
  if (filter.counterpartyClassification === 'historical') return sql<boolean>`o.counterparty_id in ${ids}`
  const { vaultId } = filter.scope
  const later = filter.later ?? sql`(${laterMatches(filter, { entries: sql`s.counterparty_id in ${ids}` })})`
  return sql<boolean>`(o.counterparty_address_id in (select s.id from counterparty_addresses s
      where s.vault_id = ${vaultId} and s.counterparty_id in ${ids})
    or o.id in (select later.id from ${later} later where later.counterparty_id in ${ids}))`
}

/**
 * SQL: the operations of a vault whose other side is in the address book now, by an entry that was made after them: rows of
 * (id, counterparty_id). An operation that is newer than the entry has the counterparty in its row, so no other operations are
 * searched. `entries` filters the entries `s`, `operations` the operations `o`, `columns` follow the two, and `source` has the
 * operations. No index leads from an entry to its deposits, so the deposits of the vault are read once, unless the operations
 * are few.
 */
export function laterMatches(
  filter: Pick<OperationFilter, 'scope' | 'operationIds'>,
  {
    entries = sql`true`,
    operations = sql`true`,
    columns = sql``,
    source = sql`operations`,
  }: {
    entries?: RawBuilder<unknown>
    operations?: RawBuilder<unknown>
    columns?: RawBuilder<unknown>
    source?: RawBuilder<unknown>
  } = {},
): RawBuilder<unknown> {
  const { vaultId } = filter.scope
  return sql`
    select o.id, later.counterparty_id ${columns}
    from (${laterEntries(filter, entries)}) later
    join ${source} o on o.vault_id = ${vaultId} and o.id = later.id and o.network_id = later.network_id
    where o.flow_type = 'external' and o.counterparty_address_id is distinct from later.entry_id and ${operations}`
}

/** SQL: pairs of an older operation and the entry of the address book that names its other side: (id, entry_id, …). */
export const laterEntries = (
  filter: Pick<OperationFilter, 'scope' | 'operationIds'>,
  entries: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select t.id, s.id as entry_id, s.counterparty_id, s.network_id
  from counterparty_addresses s
  join transfers t on t.vault_id = s.vault_id and t.to_address_key = s.address_key and t.created_at <= s.created_at
  where s.vault_id = ${filter.scope.vaultId} and ${entries} and ${isAmong(filter, 't.id')}
  union all
  select d.id, s.id, s.counterparty_id, s.network_id
  from counterparty_addresses s
  join networks n on n.id = s.network_id
  join deposits d on d.vault_id = s.vault_id and lower(d.from_address) = lower(s.address) and d.created_at <= s.created_at
  where s.vault_id = ${filter.scope.vaultId} and ${entries} and ${isAmong(filter, 'd.id')}
    and (n.type = 'evm' or d.from_address = s.address)`

/**
 * SQL condition: one assignment to the operation `o` that the viewer may see meets all filters by category and field. The viewer
 * must see the operation.
 */
export function isCategorized({
  scope,
  categoryKeys,
  categoryFields,
}: Pick<OperationFilter, 'scope' | 'categoryKeys' | 'categoryFields'>): RawBuilder<boolean> {
  const conditions: RawBuilder<unknown>[] = []
  if (categoryKeys !== null) conditions.push(sql`c.key = any(${categoryKeys}::text[])`)
  for (const { key, values } of categoryFields) {
    conditions.push(sql`a.values ->> ${key}::text = any(${values}::text[]) and exists (select from category_fields y
      where y.vault_id = a.vault_id and y.category_id = a.category_id and y.key = ${key}
        and (not y.sensitive or ${hasCategoryRight(scope, 'edit', 'c', 'o')}))`)
  }
  return sql<boolean>`exists (select from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = o.vault_id and a.operation_id = o.id
      and ${hasCategoryRight(scope, 'view', 'c', 'o')} and ${sql.join(conditions, sql` and `)})`
}

/** @throws 400 when a condition names a field that no category has, or none of the filtered categories */
export async function requireKnownFields(db: Db | Trx, filter: OperationFilter): Promise<void> {
  const { scope, categoryFields, categoryKeys } = filter
  if (categoryFields.length === 0) return
  const { rows } = await sql<{ key: string }>`
    select distinct f.key from category_fields f
    join operation_categories c on c.vault_id = f.vault_id and c.id = f.category_id
    where f.vault_id = ${scope.vaultId} and f.key = any(${categoryFields.map(({ key }) => key)}::text[])
      ${categoryKeys === null ? sql`` : sql`and c.key = any(${categoryKeys}::text[])`}`.execute(db)
  const known = new Set(rows.map(({ key }) => key))
  const unknown = categoryFields.find(({ key }) => !known.has(key))
  if (unknown !== undefined)
    throw badRequest('categoryField', `names ${unknown.key}, which is not a field of a category`)
}
