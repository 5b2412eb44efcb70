import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../http/schema.ts'
import { toPage } from '../../../lib/cursor.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { flowTypes, operationTypes } from '../../../lib/operations.ts'
import { hasCategoryRight } from '../../operations/categories/rights.ts'
import type { ColumnKind } from '../documents/document.ts'
import { type PartyColumns, toParty } from '../requests/details.ts'
import { isReported, laterMatches, type OperationFilter } from '../requests/operation-filter.ts'
import { countRows, inHeldSnapshot, inSnapshot, nameFew, streamRows } from '../requests/reading.ts'
import { type ExtraColumn, type PagedRequest, type ReportContent, toHeader } from '../requests/report-request.ts'
import {
  Amount,
  BreakdownIgnored,
  commonQuery,
  Figure,
  filters,
  named,
  ReportHeader,
  reportedStatuses,
  Text,
  Usd,
} from '../requests/schema.ts'

export const OperationsQuery = Closed({ ...commonQuery, ...filters, breakdownBy: BreakdownIgnored, ...pageQuery })

export const ReportedOperation = Closed(
  {
    createdAt: Timestamp,
    id: Id,
    operationType: Enum(operationTypes),
    direction: Enum(['in', 'out']),
    status: described(Enum(reportedStatuses), 'Status of the operation.'),
    flowType: Enum(flowTypes),
    network: Text('ethereum'),
    tokenId: Id,
    asset: Text('USDT'),
    amount: Amount,
    usdRate: Nullable(Figure('1.0002')),
    usdValue: Nullable(Usd),
    fee: described(
      Nullable(Amount),
      'Network fee of a transfer in units of `feeAsset`; null if none was paid or it is unknown.',
    ),
    feeAsset: described(Nullable(Text('ETH')), 'Code of the coin in which the fee was paid; null without a fee.'),
    feeUsdValue: described(
      Nullable(Usd),
      'USD value of the fee when it was booked; null before, and if no rate was fresh then.',
    ),
    addressId: Id,
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    addressLabel: Nullable(Text('Operations')),
    otherAddress: Nullable(
      Type.String({
        description: 'Address of the other side of the operation.',
        examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
      }),
    ),
    counterparty: named,
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    initiatorId: Nullable(Id),
    initiatorName: described(
      Nullable(Text('Treasurer')),
      'Name of the user or service that ordered the transfer; null for a deposit.',
    ),
    decisionPolicyCode: Nullable(Text('large-transfers')),
    failureReason: Nullable(Text('APPROVAL_EXPIRED')),
    paymentPurpose: Nullable(Text('Invoice 4711')),
    note: Nullable(Text('Second instalment')),
    tags: Type.Array(Text('urgent')),
    blockchainAt: Nullable(Timestamp),
    confirmedAt: Nullable(Timestamp),
    categories: Type.Array(Text('payroll'), {
      description: 'Keys of the assigned categories that the caller sees, in the order in which they were assigned.',
    }),
    categoryValues: Type.Record(Type.String(), Nullable(Type.String()), {
      description:
        'The values of their fields by `category.field`, which is a column of a file; null for sensitive values that the ' +
        'caller may not see.',
      examples: [{ 'payroll.hours': '3.50' }],
    }),
  },
  { $id: 'ReportedOperation' },
)

export const CategoryColumn = Closed(
  {
    key: described(Text('payroll.hours'), 'Name of the column: key of the category, a dot, and key of the field.'),
    categoryKey: described(Text('payroll'), 'Key of the category.'),
    categoryName: described(Text('Payroll'), 'Name of the category.'),
    fieldKey: described(Text('hours'), 'Key of the field in the category.'),
    label: described(Text('Hours'), 'Label of the field for people to read.'),
    type: described(Text('number'), 'Type of the values.'),
    unit: Nullable(Text('h')),
  },
  { $id: 'CategoryColumn', description: 'A field of a category that an operation of the report has.' },
)

export const OperationsReport = Closed(
  {
    report: Ref(ReportHeader),
    categoryColumns: described(
      Type.Array(Ref(CategoryColumn)),
      'The fields of categories that at least one operation has, each a column of a file.',
    ),
    items: Type.Array(Ref(ReportedOperation)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'OperationsReport' },
)

/** Builds one page of the operations, oldest first. */
export async function buildOperations(db: Db, request: PagedRequest): Promise<Static<typeof OperationsReport>> {
  const { limit } = request.page
  const positionOf = (row: Row) => ({ createdAt: row.createdAt, id: row.id })
  return inSnapshot(db, async (trx) => {
    // The votes on few operations are looked up: a page must not read those of the vault.
    const named = request.filter.approvalPolicyIds === null ? request : await nameFew(trx, request)
    return {
      ...(await readHead(trx, named)),
      ...toPage(await listOperations(trx, named), limit, positionOf, toOperation),
    }
  })
}

/** Opens all operations, read in one snapshot from beginning to end, however long `use` takes. */
export async function openOperations<Result>(
  db: Db,
  request: PagedRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  const { filter } = request
  return inHeldSnapshot(db, async (trx) => {
    const report = await readHead(trx, request)
    async function* items() {
      for await (const row of streamRows(trx, operationsOf(filter, isReported(filter)))) yield toOperation(row)
    }
    const totalRows = await countRows(trx, sql`from operations o where ${isReported(filter)}`)
    const columns = { items: report.categoryColumns.map(toColumn) }
    return use({ report, streams: { items: items() }, columns, totalRows })
  })
}

/** Returns the report without its operations. */
const readHead = async (trx: Trx, request: PagedRequest) => ({
  report: toHeader(request),
  categoryColumns: await listCategoryColumns(trx, request.filter),
})

/** The columns of a row as its answer has them, and the columns that further fields are made from. */
type Row = PartyColumns &
  Omit<
    Static<typeof ReportedOperation>,
    'createdAt' | 'blockchainAt' | 'confirmedAt' | 'counterparty' | 'categories' | 'categoryValues'
  > & {
    decimals: number
    feeDecimals: number | null
    createdAt: Date
    blockchainAt: Date | null
    confirmedAt: Date | null
    /**
     * The assignments that the viewer may see, in their order. `withheld` has the keys of sensitive fields that are hidden from
     * the viewer.
     */
    assignments: { key: string; values: Record<string, string>; withheld: string[] }[]
  }

function toOperation({ decimals, feeDecimals, partyId, partyName, assignments, ...row }: Row) {
  // The fee in the native coin of the network; unknown as long as the registry has no such token.
  const fee = row.fee === null || feeDecimals === null ? null : formatDecimal(row.fee, feeDecimals)
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    amount: formatDecimal(row.amount, decimals),
    fee,
    feeAsset: fee === null ? null : row.feeAsset,
    counterparty: toParty({ partyId, partyName }),
    blockchainAt: row.blockchainAt?.toISOString() ?? null,
    confirmedAt: row.confirmedAt?.toISOString() ?? null,
    categories: assignments.map(({ key }) => key),
    categoryValues: Object.fromEntries(assignments.flatMap(valuesOf)),
  }
}

/**
 * Returns the values. Every sensitive field is null for a viewer who may not read it, so that it does not reveal whether it has
 * a value.
 */
function valuesOf({ key, values, withheld }: Row['assignments'][number]): [string, string | null][] {
  const shown = Object.entries(values).filter(([field]) => !withheld.includes(field))
  const hidden = withheld.map((field): [string, null] => [field, null])
  return [...shown, ...hidden].map(([field, value]) => [`${key}.${field}`, value])
}

const kinds: Partial<Record<string, ColumnKind>> = { number: 'amount', currency: 'amount', datetime: 'timestamp' }

function toColumn({ key, categoryName, label, type, unit }: Static<typeof CategoryColumn>): ExtraColumn {
  return {
    key,
    label: `${categoryName}: ${label}${unit === null ? '' : `, ${unit}`}`,
    kind: kinds[type] ?? 'text',
    read: ({ categoryValues }) => (categoryValues as Record<string, string | null>)[key] ?? null,
  }
}

/** Returns the operations of one page, oldest first, and one more when there is a further page. */
async function listOperations(trx: Trx, { filter, page: { after, limit } }: PagedRequest): Promise<Row[]> {
  const beyond = after === null ? sql`true` : sql`(o.created_at, o.id) > (${after.createdAt}, ${after.id})`
  const { rows: found } = await sql<{ id: string }>`
    select o.id from operations o where ${isReported(filter)} and ${beyond}
    order by o.created_at, o.id limit ${limit + 1}`.execute(trx)
  const ids = found.map(({ id }) => id)
  const chosen = sql`o.vault_id = ${filter.scope.vaultId} and o.id = any(${ids}::text[])`
  return (await operationsOf({ ...filter, operationIds: ids }, chosen).execute(trx)).rows
}

/** Returns the fields of the categories that the viewer sees on an operation of the report, on any page. */
async function listCategoryColumns(trx: Trx, filter: OperationFilter): Promise<Static<typeof CategoryColumn>[]> {
  const { scope } = filter
  const { rows } = await sql<Static<typeof CategoryColumn>>`
    select c.key || '.' || f.key as key, c.key as "categoryKey", c.name as "categoryName", f.key as "fieldKey",
      f.label, f.type, f.unit
    from operation_categories c
    join category_fields f on f.vault_id = c.vault_id and f.category_id = c.id
    where c.vault_id = ${scope.vaultId} and exists (
      select from category_assignments a join operations o on o.vault_id = a.vault_id and o.id = a.operation_id
      where a.vault_id = c.vault_id and a.category_id = c.id and ${isReported(filter)}
        and ${hasCategoryRight(scope, 'view', 'c', 'o')})
    order by c.key, f.order_index, f.created_at, f.id`.execute(trx)
  return rows
}

/** SQL: the operations `o` that meet a condition, oldest first, with all columns of a row of the report. */
function operationsOf(filter: OperationFilter, chosen: RawBuilder<unknown>): RawBuilder<Row> {
  const isCurrent = filter.counterpartyClassification === 'current'
  const later = sql`with later as materialized (
    select distinct on (found.id) found.id, found.counterparty_id
    from (${laterMatches(filter, { operations: chosen })}) found order by found.id, found.counterparty_id)`
  const party = isCurrent
    ? sql`party.id as "partyId", party.name as "partyName"`
    : sql`o.counterparty_id as "partyId", o.counterparty_name as "partyName"`
  const joinParty = sql`
    left join later on later.id = o.id
    left join counterparty_addresses s on s.vault_id = o.vault_id and s.id = o.counterparty_address_id
    left join counterparties party on party.vault_id = o.vault_id
      and party.id = coalesce(later.counterparty_id, s.counterparty_id)`
  return sql<Row>`${isCurrent ? later : sql``}
    select o.created_at as "createdAt", o.id, o.type as "operationType",
      case when o.type = 'transfer' then 'out' else 'in' end as direction, o.status, o.flow_type as "flowType",
      n.slug as network, o.token_id as "tokenId", k.code as asset, o.amount, k.decimals,
      trim_scale(o.usd_rate) as "usdRate", o.usd_value as "usdValue",
      t.fee, coin.code as "feeAsset", coin.decimals as "feeDecimals", o.fee_usd_value as "feeUsdValue",
      o.address_id as "addressId", a.address, a.label as "addressLabel",
      coalesce(t.to_address, d.from_address) as "otherAddress", ${party}, o.tx_hash as "txHash",
      o.initiator_id as "initiatorId", coalesce(u.name, u.username) as "initiatorName",
      t.decision_policy_code as "decisionPolicyCode", t.failure_reason as "failureReason",
      o.payment_purpose as "paymentPurpose", o.note, o.tags,
      o.blockchain_at as "blockchainAt", o.confirmed_at as "confirmedAt", ${assignmentsOf(filter)} as assignments
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
