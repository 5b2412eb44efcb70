import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../../db/client.ts'
import type { Paging } from '../../../../lib/cursor.ts'
import type { FlowType, OperationStatus, OperationType } from '../../../../lib/operations.ts'
import { hasCategoryRight } from '../../../operations/assignments/rights.ts'
import { isReported, laterMatches, type OperationFilter } from '../operation-filter.ts'
import type { ReportRequest } from '../request.ts'

export type OperationsRequest = ReportRequest & { page: Paging }

export type ReportedRow = {
  id: string
  type: OperationType
  status: OperationStatus
  flow_type: FlowType
  network: string
  token_id: string
  asset_code: string
  decimals: number
  amount: string
  usd_rate: string | null
  usd_value: string | null
  fee: string | null
  fee_asset: string | null
  fee_decimals: number | null
  address_id: string
  address: string
  label: string | null
  other_address: string | null
  counterparty_id: string | null
  counterparty_name: string | null
  tx_hash: string | null
  initiator_id: string | null
  initiator_name: string | null
  decision_policy_code: string | null
  failure_reason: string | null
  payment_purpose: string | null
  note: string | null
  tags: string[]
  created_at: Date
  blockchain_at: Date | null
  confirmed_at: Date | null
  /** Those that the viewer may see, in their order; of sensitive fields the keys of those withheld from the viewer. */
  assignments: { key: string; values: Record<string, string>; withheld: string[] }[]
}

export type CategoryColumnRow = {
  category_key: string
  category_name: string
  field_key: string
  label: string
  type: string
  unit: string | null
}

/** The operations of one page, oldest first, and one more when there is a further page. */
export async function listOperations(trx: Trx, request: OperationsRequest): Promise<ReportedRow[]> {
  const { filter, interval, page } = request
  const { after, limit } = page
  const beyond = after === null ? sql`true` : sql`(o.created_at, o.id) > (${after.createdAt}, ${after.id})`
  const { rows: found } = await sql<{ id: string }>`
    select o.id from operations o where ${isReported(filter, interval)} and ${beyond}
    order by o.created_at, o.id limit ${limit + 1}`.execute(trx)
  const ids = found.map(({ id }) => id)
  const { rows } = await sql<ReportedRow>`
    ${operationsOf({ ...filter, operationIds: ids }, sql`o.vault_id = ${filter.scope.vaultId} and o.id = any(${ids}::text[])`)}`.execute(
    trx,
  )
  return rows
}

/** Operations that one round trip fetches when all are read. */
const operationsPerFetch = 500

/** Every operation of the report, oldest first, as a stream from one snapshot. */
export async function* streamOperations(
  trx: Trx,
  { filter, interval }: OperationsRequest,
): AsyncGenerator<ReportedRow> {
  const all = operationsOf(filter, isReported(filter, interval))
  await sql`declare reported_operations no scroll cursor for ${all}`.execute(trx)
  for (;;) {
    const { rows } = await sql<ReportedRow>`
      fetch ${sql.lit(operationsPerFetch)} from reported_operations`.execute(trx)
    yield* rows
    if (rows.length < operationsPerFetch) break
  }
  await sql`close reported_operations`.execute(trx)
}

export async function countOperations(trx: Trx, { filter, interval }: OperationsRequest): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from operations o where ${isReported(filter, interval)}`.execute(trx)
  return rows[0]!.count
}

/** The fields of the categories that the viewer sees on an operation of the report, whichever page it is on. */
export async function listCategoryColumns(
  trx: Trx,
  { filter, interval }: OperationsRequest,
): Promise<CategoryColumnRow[]> {
  const { scope } = filter
  const { rows } = await sql<CategoryColumnRow>`
    select c.key as category_key, c.name as category_name, f.key as field_key, f.label, f.type, f.unit
    from operation_categories c
    join category_fields f on f.vault_id = c.vault_id and f.category_id = c.id
    where c.vault_id = ${scope.vaultId} and exists (
      select from category_assignments a join operations o on o.vault_id = a.vault_id and o.id = a.operation_id
      where a.vault_id = c.vault_id and a.category_id = c.id and ${isReported(filter, interval)}
        and ${hasCategoryRight(scope, 'view', 'c', 'o')})
    order by c.key, f.order_index, f.created_at, f.id`.execute(trx)
  return rows
}

/** SQL: the operations `o` that meet a condition, oldest first, with everything that a row of the report says. */
function operationsOf(filter: OperationFilter, chosen: RawBuilder<unknown>): RawBuilder<unknown> {
  const isCurrent = filter.counterpartyClassification === 'current'
  const later = sql`with later as materialized (
    select distinct on (found.id) found.id, found.counterparty_id
    from (${laterMatches(filter, { operations: chosen })}) found order by found.id, found.counterparty_id)`
  const party = isCurrent
    ? sql`party.id as counterparty_id, party.name as counterparty_name`
    : sql`o.counterparty_id, o.counterparty_name`
  const joinParty = sql`
    left join later on later.id = o.id
    left join counterparty_addresses s on s.vault_id = o.vault_id and s.id = o.counterparty_address_id
    left join counterparties party on party.vault_id = o.vault_id
      and party.id = coalesce(later.counterparty_id, s.counterparty_id)`
  return sql`${isCurrent ? later : sql``}
    select o.id, o.type, o.status, o.flow_type, n.slug as network, o.token_id, k.code as asset_code, k.decimals, o.amount,
      trim_scale(o.usd_rate) as usd_rate, o.usd_value, t.fee, coin.code as fee_asset, coin.decimals as fee_decimals,
      o.address_id, a.address, a.label, coalesce(t.to_address, d.from_address) as other_address, ${party}, o.tx_hash,
      o.initiator_id, coalesce(u.name, u.username) as initiator_name, t.decision_policy_code, t.failure_reason,
      o.payment_purpose, o.note, o.tags, o.created_at, o.blockchain_at, o.confirmed_at, ${assignmentsOf(filter)} as assignments
    from operations o
    join networks n on n.id = o.network_id
    join tokens k on k.id = o.token_id
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    left join tokens coin on coin.network_id = o.network_id and coin.contract_key = ''
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    left join users u on u.id = o.initiator_id
    ${isCurrent ? joinParty : sql``}
    where ${chosen} order by o.created_at, o.id`
}

/** SQL: the assignments of the operation `o` that the viewer may see, by the rule of its list of assignments. */
function assignmentsOf({ scope }: OperationFilter): RawBuilder<unknown> {
  return sql`coalesce((
    select json_agg(json_build_object('key', c.key, 'values', x.values, 'withheld',
      case when ${hasCategoryRight(scope, 'edit', 'c', 'o')} then '{}'::text[] else array(
        select f.key from category_fields f where f.vault_id = c.vault_id and f.category_id = c.id and f.sensitive) end)
      order by x.position, x.created_at, x.id)
    from category_assignments x
    join operation_categories c on c.vault_id = x.vault_id and c.id = x.category_id
    where x.vault_id = o.vault_id and x.operation_id = o.id and ${hasCategoryRight(scope, 'view', 'c', 'o')}), '[]')`
}
