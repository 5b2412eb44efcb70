import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import { type Position, pageOf, toPage } from '../../../../lib/cursor.ts'
import { badRequest } from '../../../../lib/errors.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import { type AccountDifferenceRow, listAccountDifferences } from '../account-differences.ts'
import { sumOperations } from '../activity/sum-operations.ts'
import { assessDataQuality, exceptionKinds } from '../blocks/data-quality.ts'
import { countOtherFaults } from '../faults.ts'
import type { ReportContent } from '../report.ts'
import { listOf, readReportRequest, toHeader } from '../request.ts'
import { inSnapshot } from '../snapshot.ts'
import { type ExceptionRow, type ExceptionsRequest, listExceptions } from './queries.ts'
import type {
  AccountDifference,
  ExceptionOperation,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
} from './schema.ts'

/** Operations that one round trip fetches when all exceptions are read. */
const exceptionsPerPage = 1_000

/** @throws 400 naming the parameter, 403 when a caller who is no administrator names another user */
export function readExceptionsRequest(
  type: string,
  member: Member,
  query: Static<typeof OperationsExceptionsQuery>,
  now: Date,
): ExceptionsRequest {
  const request = readReportRequest(type, member, query, now)
  return { ...request, kinds: readKinds(listOf('exceptions', query.exceptions)), page: pageOf(query) }
}

/** @throws 400 for a figure that does not exist */
function readKinds(names: string[] | null): ExceptionsRequest['kinds'] {
  if (names === null) return exceptionKinds
  return names.map((name) => {
    const kind = exceptionKinds.find((known) => known === name)
    if (kind === undefined) throw badRequest('exceptions', `must be of ${exceptionKinds.join(', ')}`)
    return kind
  })
}

/** The figures of data quality and one page of the operations behind them, newest first. */
export async function buildExceptions(
  db: Db,
  request: ExceptionsRequest,
): Promise<Static<typeof OperationsExceptionsReport>> {
  return inSnapshot(db, async (trx) => ({
    ...(await readHead(trx, request)),
    ...toPage(await listExceptions(trx, request), request.page.limit, positionOf, toException),
  }))
}

/** The report with all operations, read page by page; an operation that is added meanwhile is newer than the interval. */
export async function openExceptions<Result>(
  db: Db,
  request: ExceptionsRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  const pageAfter = (after: Position | null) => ({ ...request, page: { after, limit: exceptionsPerPage } })
  const { report, firstRows } = await inSnapshot(db, async (trx) => ({
    report: await readHead(trx, request),
    firstRows: await listExceptions(trx, pageAfter(null)),
  }))

  async function* operations() {
    let rows = firstRows
    for (;;) {
      yield* rows.slice(0, exceptionsPerPage).map(toException)
      if (rows.length <= exceptionsPerPage) return
      const next = pageAfter(positionOf(rows[exceptionsPerPage - 1]!))
      rows = await inSnapshot(db, (trx) => listExceptions(trx, next))
    }
  }

  const counted = request.kinds.reduce((sum, kind) => sum + report.dataQuality[kind], 0)
  const totalRows = counted + report.accountDifferences.length + 1
  return use({ report, streams: { items: operations() }, totalRows })
}

/** The report without its operations. */
async function readHead(trx: Trx, request: ExceptionsRequest) {
  const { filter, interval } = request
  const differences = await listAccountDifferences(trx, filter)
  const { overall } = await sumOperations(trx, filter, interval, [interval.from])
  return {
    report: toHeader(request),
    dataQuality: assessDataQuality(overall, await countOtherFaults(trx, request, overall, differences.length)),
    accountDifferences: differences.map(toDifference),
  }
}

const positionOf = (row: ExceptionRow): Position => ({ createdAt: row.created_at, id: row.id })

function toException(row: ExceptionRow): Static<typeof ExceptionOperation> {
  return {
    id: row.id,
    exceptions: row.kinds,
    operationType: row.type,
    status: row.status,
    addressId: row.address_id,
    address: row.address,
    tokenId: row.token_id,
    asset: row.asset_code,
    amount: formatDecimal(row.amount, row.decimals),
    usdValue: row.usd_value,
    txHash: row.tx_hash,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name ?? '' },
    createdAt: row.created_at.toISOString(),
  }
}

function toDifference({
  decimals,
  balance,
  balanceOfEntries,
  ...account
}: AccountDifferenceRow): Static<typeof AccountDifference> {
  return {
    ...account,
    balance: formatDecimal(balance, decimals),
    balanceOfEntries: formatDecimal(balanceOfEntries, decimals),
  }
}
