import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db } from '../../../../db/client.ts'
import { encodeCursor, type Position, pageOf } from '../../../../lib/cursor.ts'
import { idOfSequence } from '../../../../lib/ids.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { Asset } from '../activity.ts'
import { nameAsset } from '../flows.ts'
import type { ReportContent } from '../report.ts'
import { readReportRequest, toHeader } from '../request.ts'
import { inSnapshot } from '../snapshot.ts'
import {
  type AccountBalances,
  countEntries,
  type LineRow,
  listLines,
  readStatementHead,
  type StatementHead,
  type StatementRequest,
  streamLines,
} from './queries.ts'
import type { AccountStanding, AccountStatementQuery, AccountStatementReport, StatementLine } from './schema.ts'

/** @throws 400 naming the parameter, 403 when a caller who is no administrator names another user */
export function readStatementRequest(
  type: string,
  member: Member,
  query: Static<typeof AccountStatementQuery>,
  now: Date,
): StatementRequest {
  const { addressId, tokenId } = query
  return { ...readReportRequest(type, member, query, now), addressId, tokenId, page: pageOf(query) }
}

/** The statement of one address and token with one page of its lines, oldest first. */
export async function buildAccountStatement(
  db: Db,
  request: StatementRequest,
): Promise<Static<typeof AccountStatementReport>> {
  return inSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    const { limit } = request.page
    const rows = await listLines(trx, request, head, request.page)
    return {
      ...toHead(request, head),
      lines: rows.slice(0, limit).map((row) => toLine(row, head.asset)),
      nextCursor: rows.length > limit ? encodeCursor(positionOf(rows[limit - 1]!)) : null,
    }
  })
}

/** The statement with all of its lines, read in one snapshot from beginning to end, however long `use` takes. */
export async function openAccountStatement<Result>(
  db: Db,
  request: StatementRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    async function* lines() {
      for await (const row of streamLines(trx, request, head)) yield toLine(row, head.asset)
    }
    const totalRows = await countEntries(trx, request, head)
    return use({ report: toHead(request, head), streams: { lines: lines() }, totalRows })
  })
}

/** The position of a line in the list: its date and its sequence. */
const positionOf = (row: LineRow): Position => ({
  createdAt: row.created_at,
  id: idOfSequence(row.created_at, BigInt(row.sequence)),
})

function toLine(row: LineRow, { decimals }: Asset): Static<typeof StatementLine> {
  const amount = (raw: bigint) => formatDecimal(raw, decimals)
  const [availableChange, reservedChange] = [BigInt(row.available_change), BigInt(row.reserved_change)]
  return {
    id: positionOf(row).id,
    kind: row.kind,
    operationId: row.operation_id,
    operationType: row.operation_type,
    txHash: row.tx_hash,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name ?? '' },
    availableChange: amount(availableChange),
    reservedChange: amount(reservedChange),
    balanceChange: amount(availableChange + reservedChange),
    ...toBalances({ available: BigInt(row.available), reserved: BigInt(row.reserved) }, decimals),
    createdAt: row.created_at.toISOString(),
  }
}

function toBalances({ available, reserved }: AccountBalances, decimals: number): Static<typeof AccountStanding> {
  return {
    available: formatDecimal(available, decimals),
    reserved: formatDecimal(reserved, decimals),
    balance: formatDecimal(available + reserved, decimals),
  }
}

/** The statement without its lines. */
function toHead(request: StatementRequest, { account, asset, opening, closing }: StatementHead) {
  return {
    report: toHeader(request),
    account: { addressId: request.addressId, address: account.address, label: account.label, ...nameAsset(asset) },
    opening: toBalances(opening, asset.decimals),
    closing: toBalances(closing, asset.decimals),
  }
}
