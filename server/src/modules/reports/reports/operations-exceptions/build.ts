import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../../http/schema.ts'
import { type Position, toPage } from '../../../../lib/cursor.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import { countOtherFaults } from '../../activity/statistics.ts'
import { sumOperations } from '../../activity/sum-operations.ts'
import { assessDataQuality, type ExceptionKind, exceptionKinds, ReportDataQuality } from '../../blocks/data-quality.ts'
import { compareText } from '../../blocks/flows.ts'
import { type AccountDifferenceRow, listAccountDifferences } from '../../requests/account-differences.ts'
import { joinCounterparty, type PartyColumns, toParty } from '../../requests/details.ts'
import { avoiding, inSnapshot, nameFew } from '../../requests/reading.ts'
import {
  listAmong,
  type PagedRequest,
  type ReportContent,
  readPagedRequest,
  toHeader,
} from '../../requests/report-request.ts'
import {
  Amount,
  BreakdownIgnored,
  commonQuery,
  filters,
  List,
  named,
  ReportHeader,
  reportedStatuses,
  Text,
  Usd,
} from '../../requests/schema.ts'
import { isKind, type Search, searchesOf } from './searches.ts'

export const OperationsExceptionsQuery = Closed({
  ...commonQuery,
  ...filters,
  exceptions: List(
    'Figures of `dataQuality` whose operations are listed; defaults to all.',
    'operationsWithoutUsdRate',
  ),
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const ExceptionOperation = Closed(
  {
    id: Id,
    exceptions: described(Type.Array(Enum(exceptionKinds)), 'The figures of `dataQuality` that count the operation.'),
    operationType: Enum(['transfer', 'deposit']),
    status: described(Enum(reportedStatuses), 'Status of the operation.'),
    addressId: described(Id, 'Identifier of the address of the vault that paid or received.'),
    address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    tokenId: Id,
    asset: Text('USDT'),
    amount: Amount,
    usdValue: Nullable(Usd),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    counterparty: named,
    createdAt: Timestamp,
  },
  { $id: 'ExceptionOperation' },
)

export const AccountDifference = Closed(
  {
    accountId: described(Id, 'Identifier of the account.'),
    addressId: Id,
    tokenId: Id,
    purpose: described(
      Enum(['available', 'reserved']),
      'Purpose of the account: `available` funds can be spent, `reserved` funds are held for transfers.',
    ),
    balance: described(Amount, 'Balance of the account as stored, in token units.'),
    balanceOfEntries: Amount,
  },
  { $id: 'AccountDifference' },
)

export const OperationsExceptionsReport = Closed(
  {
    report: Ref(ReportHeader),
    dataQuality: Ref(ReportDataQuality),
    accountDifferences: described(
      Type.Array(Ref(AccountDifference)),
      'Accounts whose stored balance differs from the balance after their newest entry.',
    ),
    items: Type.Array(Ref(ExceptionOperation)),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'OperationsExceptionsReport' },
)

/** The number of operations that one round trip fetches when all exceptions are read. */
const exceptionsPerPage = 1_000

/** @throws 400 naming the parameter, 403 when a caller who is not an administrator names another user */
export function readExceptionsRequest(
  type: string,
  member: Member,
  query: Static<typeof OperationsExceptionsQuery>,
  now: Date,
): ExceptionsRequest {
  const request = readPagedRequest(type, member, query, now)
  return { ...request, kinds: listAmong('exceptions', query.exceptions, exceptionKinds) ?? exceptionKinds }
}

/** Builds the figures of data quality and one page of the operations behind them, newest first. */
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

/**
 * Opens the report with all operations. Each page is read from a snapshot of its own and begins after the last operation of the page
 * before. The other parts of the report come from the first snapshot.
 */
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

/** Returns the report without its operations. */
async function readHead(trx: Trx, request: ExceptionsRequest) {
  const { filter } = request
  const differences = await listAccountDifferences(trx, filter)
  const { overall } = await sumOperations(trx, filter, [filter.interval.from])
  const otherFaults = await countOtherFaults(trx, filter, overall)
  return {
    report: toHeader(request),
    dataQuality: assessDataQuality(overall, { ...otherFaults, ledgerReconciliationDifferences: differences.length }),
    accountDifferences: differences.map(toDifference),
  }
}

const positionOf = ({ createdAt, id }: Row): Position => ({ createdAt, id })

function toException({ decimals, partyId, partyName, ...row }: Row): Static<typeof ExceptionOperation> {
  return {
    ...row,
    amount: formatDecimal(row.amount, decimals),
    counterparty: toParty({ partyId, partyName }),
    createdAt: row.createdAt.toISOString(),
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

type ExceptionsRequest = PagedRequest & { kinds: readonly ExceptionKind[] }

/** The figures of the report: the number of operations of each kind, and of all operations. */
type ExceptionFigures = Readonly<Record<ExceptionKind | 'totalOperations', number>>

/** The columns of a row: fields of the answer, and columns from which other fields are computed. */
type Row = PartyColumns &
  Omit<Static<typeof ExceptionOperation>, 'counterparty' | 'createdAt'> & { decimals: number; createdAt: Date }

/**
 * Returns operations behind the figures of data quality, newest first, and one operation more when there is a further page.
 * The figures are known, so a kind without operations is not searched. Each search reads the operations of the report at most
 * once, as the figures did, and only operations newer than the page that earlier searches have filled. The kinds of an
 * operation are determined for the page alone. So the time of a page does not depend on the estimates of the planner.
 */
export async function listExceptions(trx: Trx, request: ExceptionsRequest, figures: ExceptionFigures): Promise<Row[]> {
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

/** Returns the newest operations that a search finds, after the previous page and newer than a position. */
async function findNewest(
  trx: Trx,
  { page: { after, limit } }: ExceptionsRequest,
  { where, common = sql``, joined = sql``, avoided }: Search,
  newerThan: Position | null,
): Promise<Position[]> {
  return avoiding(trx, avoided, async () => {
    // The order is an expression without an index. With an index, the planner would read all operations of the vault in order
    // where it expects to fill a page soon.
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
): Promise<Row[]> {
  const { filter } = request
  const names = [...kinds].sort(compareText)
  const found = names.map((kind) => sql`case when ${isKind(kind, filter)} then ${kind}::text end`)
  const { rows } = await sql<Row>`
    select o.id, array_remove(array[${sql.join(found)}], null) as exceptions, o.type as "operationType", o.status,
      o.address_id as "addressId", a.address, o.token_id as "tokenId", k.code as asset, o.amount, k.decimals,
      o.usd_value as "usdValue", o.tx_hash as "txHash", party.id as "partyId", party.name as "partyName",
      o.created_at as "createdAt"
    from operations o
    join addresses a on a.vault_id = o.vault_id and a.id = o.address_id
    join tokens k on k.id = o.token_id
    ${joinCounterparty(filter.counterpartyClassification, 'party')}
    ${joinCounterparty('current', 'present')}
    where o.vault_id = ${filter.scope.vaultId} and o.id = any(${ids}::text[])
    order by o.created_at desc, o.id desc`.execute(trx)
  return rows
}
