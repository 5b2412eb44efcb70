import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import { type Position, pageOf, toPage } from '../../../../lib/cursor.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { ColumnKind } from '../../files/document.ts'
import type { ExtraColumn, ReportContent } from '../request.ts'
import { inSnapshot, readReportRequest, toHeader } from '../request.ts'
import {
  type CategoryColumnRow,
  countOperations,
  listCategoryColumns,
  listOperations,
  type OperationsRequest,
  type ReportedRow,
  streamOperations,
} from './queries.ts'
import type { CategoryColumn, OperationsQuery, OperationsReport, ReportedOperation } from './schema.ts'

/** @throws 400 naming the parameter, 403 when a caller who is no administrator names another user */
export function readOperationsRequest(
  type: string,
  member: Member,
  query: Static<typeof OperationsQuery>,
  now: Date,
): OperationsRequest {
  return { ...readReportRequest(type, member, query, now), page: pageOf(query) }
}

/** One page of the operations, oldest first. */
export async function buildOperations(db: Db, request: OperationsRequest): Promise<Static<typeof OperationsReport>> {
  return inSnapshot(db, async (trx) => ({
    ...(await readHead(trx, request)),
    ...toPage(await listOperations(trx, request), request.page.limit, positionOf, toOperation),
  }))
}

/** All operations, read in one snapshot from beginning to end, however long `use` takes. */
export async function openOperations<Result>(
  db: Db,
  request: OperationsRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(db, async (trx) => {
    const report = await readHead(trx, request)
    async function* operations() {
      for await (const row of streamOperations(trx, request)) yield toOperation(row)
    }
    const totalRows = await countOperations(trx, request)
    const columns = { items: report.categoryColumns.map(toColumn) }
    return use({ report, streams: { items: operations() }, columns, totalRows })
  })
}

/** The report without its operations. */
async function readHead(trx: Trx, request: OperationsRequest) {
  const columns = await listCategoryColumns(trx, request)
  return { report: toHeader(request), categoryColumns: columns.map(toCategoryColumn) }
}

const positionOf = (row: ReportedRow): Position => ({ createdAt: row.created_at, id: row.id })

function toOperation(row: ReportedRow): Static<typeof ReportedOperation> {
  return {
    createdAt: row.created_at.toISOString(),
    id: row.id,
    operationType: row.type,
    direction: row.type === 'transfer' ? 'out' : 'in',
    status: row.status,
    flowType: row.flow_type,
    network: row.network,
    tokenId: row.token_id,
    asset: row.asset_code,
    amount: formatDecimal(row.amount, row.decimals),
    usdRate: row.usd_rate,
    usdValue: row.usd_value,
    ...toFee(row),
    addressId: row.address_id,
    address: row.address,
    addressLabel: row.label,
    otherAddress: row.other_address,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name ?? '' },
    txHash: row.tx_hash,
    initiatorId: row.initiator_id,
    initiatorName: row.initiator_name,
    decisionPolicyCode: row.decision_policy_code,
    failureReason: row.failure_reason,
    paymentPurpose: row.payment_purpose,
    note: row.note,
    tags: row.tags,
    blockchainAt: row.blockchain_at?.toISOString() ?? null,
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
    categories: row.assignments.map(({ key }) => key),
    categoryValues: Object.fromEntries(row.assignments.flatMap(valuesOf)),
  }
}

/** In the native coin of the network; unknown as long as the registry has no such token. */
function toFee({ fee, fee_asset, fee_decimals }: ReportedRow) {
  const isKnown = fee !== null && fee_decimals !== null
  return { fee: isKnown ? formatDecimal(fee, fee_decimals) : null, feeAsset: isKnown ? fee_asset : null }
}

/** Every sensitive field is null for those who may not read it, so that it does not reveal whether it has a value. */
function valuesOf({ key, values, withheld }: ReportedRow['assignments'][number]): [string, string | null][] {
  const shown = Object.entries(values).filter(([field]) => !withheld.includes(field))
  const hidden = withheld.map((field): [string, null] => [field, null])
  return [...shown, ...hidden].map(([field, value]) => [`${key}.${field}`, value])
}

function toCategoryColumn(row: CategoryColumnRow): Static<typeof CategoryColumn> {
  return {
    key: `${row.category_key}.${row.field_key}`,
    categoryKey: row.category_key,
    categoryName: row.category_name,
    fieldKey: row.field_key,
    label: row.label,
    type: row.type,
    unit: row.unit,
  }
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
