import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import { type Paging, type Position, pageOf as readPage, toPage } from '../../../../lib/cursor.ts'
import { badRequest } from '../../../../lib/errors.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { OperationStatus, OperationType } from '../../../../lib/operations.ts'
import { type AccountDifferenceRow, listAccountDifferences } from '../account-differences.ts'
import { countOtherFaults } from '../activity/statistics.ts'
import { sumOperations } from '../activity/sum-operations.ts'
import { compareText } from '../activity.ts'
import { avoiding, nameFew } from '../avoiding.ts'
import { assessDataQuality, type ExceptionKind, exceptionKinds } from '../blocks/data-quality.ts'
import { joinCounterparty } from '../details.ts'
import { inSnapshot, listOf, type ReportContent, type ReportRequest, readReportRequest, toHeader } from '../request.ts'
import type {
  AccountDifference,
  ExceptionOperation,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
} from './schema.ts'
import { isKind, type Search, searchesOf } from './searches.ts'

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
  return { ...request, kinds: readKinds(listOf('exceptions', query.exceptions)), page: readPage(query) }
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
  return inSnapshot(db, async (trx) => {
    const named = await nameFew(trx, request)
    const head = await readHead(trx, named)
    const rows = await listExceptions(trx, named, head.dataQuality)
    return { ...head, ...toPage(rows, request.page.limit, positionOf, toException) }
  })
}

/** The report with all operations, read page by page; an operation that is added meanwhile is newer than the interval. */
export async function openExceptions<Result>(
  db: Db,
  request: ExceptionsRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  const pageOf = (named: ExceptionsRequest, after: Position | null) => ({
    ...named,
    page: { after, limit: exceptionsPerPage },
  })
  const { named, report, firstRows } = await inSnapshot(db, async (trx) => {
    const named = await nameFew(trx, request)
    const head = await readHead(trx, named)
    return { named, report: head, firstRows: await listExceptions(trx, pageOf(named, null), head.dataQuality) }
  })

  async function* operations() {
    let rows = firstRows
    for (;;) {
      yield* rows.slice(0, exceptionsPerPage).map(toException)
      if (rows.length <= exceptionsPerPage) return
      const next = pageOf(named, positionOf(rows[exceptionsPerPage - 1]!))
      rows = await inSnapshot(db, (trx) => listExceptions(trx, next, report.dataQuality))
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

export type ExceptionsRequest = ReportRequest & { kinds: readonly ExceptionKind[]; page: Paging }

/** What the report counted: the operations of each kind, and all of them. */
export type ExceptionFigures = Readonly<Record<ExceptionKind | 'totalOperations', number>>

export type ExceptionRow = {
  id: string
  kinds: ExceptionKind[]
  type: OperationType
  status: OperationStatus
  address_id: string
  address: string
  token_id: string
  asset_code: string
  decimals: number
  amount: string
  usd_value: string | null
  tx_hash: string | null
  counterparty_id: string | null
  counterparty_name: string | null
  created_at: Date
}

/**
 * Operations behind the figures of data quality, newest first, and one more when there is a further page.
 *
 * The figures are known, so no kind is searched that no operation has. Each search reads the operations of the report once
 * at most, as the figures did, and only those that are newer than the page that earlier searches have filled. Of which
 * kinds an operation is, is asked of the page alone. So the time of a page does not depend on what the planner expects.
 */
export async function listExceptions(
  trx: Trx,
  request: ExceptionsRequest,
  figures: ExceptionFigures,
): Promise<ExceptionRow[]> {
  const { limit } = request.page
  const kinds = request.kinds.filter((kind) => figures[kind] > 0)
  let newest: Position[] = []
  for (const search of searchesOf(kinds, request, figures.totalOperations)) {
    const found = await findNewest(trx, request, search, newest[limit] ?? null)
    newest = merge(newest, found).slice(0, limit + 1)
  }
  if (newest.length === 0) return []
  const ids = newest.map(({ id }) => id)
  return describe(trx, request, kinds, ids)
}

function merge(a: Position[], b: Position[]): Position[] {
  const distinct = new Map([...a, ...b].map((position) => [position.id, position]))
  return [...distinct.values()].sort((x, y) => y.createdAt.getTime() - x.createdAt.getTime() || compareText(y.id, x.id))
}

/** The newest operations that a search finds, after the page before and newer than a position. */
async function findNewest(
  trx: Trx,
  { page: { after, limit } }: ExceptionsRequest,
  { where, common = sql``, joined = sql``, avoided }: Search,
  newerThan: Position | null,
): Promise<Position[]> {
  return avoiding(trx, avoided, async () => {
    // Ordered by an expression that no index has: in the order of an index, the planner would walk past all operations of
    // the vault where it expects to fill a page soon.
    const { rows } = await sql<Position>`
      ${common} select o.created_at as "createdAt", o.id from operations o ${joined} where ${where}
        ${after === null ? sql`` : sql`and (o.created_at, o.id) < (${after.createdAt}, ${after.id})`}
        ${newerThan === null ? sql`` : sql`and (o.created_at, o.id) > (${newerThan.createdAt}, ${newerThan.id})`}
      order by o.created_at + interval '0' desc, o.id desc limit ${limit + 1}`.execute(trx)
    return rows
  })
}

async function describe(
  trx: Trx,
  request: ExceptionsRequest,
  kinds: readonly ExceptionKind[],
  ids: string[],
): Promise<ExceptionRow[]> {
  const { filter } = request
  const names = [...kinds].sort(compareText)
  const found = names.map((kind) => sql`case when ${isKind(kind, request)} then ${kind}::text end`)
  const { rows } = await sql<ExceptionRow>`
    select o.id, array_remove(array[${sql.join(found)}], null) as kinds, o.type, o.status, o.address_id, a.address,
      o.token_id, k.code as asset_code, k.decimals, o.amount, o.usd_value, o.tx_hash,
      party.id as counterparty_id, party.name as counterparty_name, o.created_at
    from operations o
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join tokens k on k.id = o.token_id
    ${joinCounterparty(filter.counterpartyClassification, 'party')}
    ${joinCounterparty('current', 'present')}
    where o.vault_id = ${filter.scope.vaultId} and o.id = any(${ids}::text[])
    order by o.created_at desc, o.id desc`.execute(trx)
  return rows
}
