import { sql } from 'kysely'
import type { Static, TSchema } from 'typebox'
import type { Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { ReportDocument } from '../files/document.ts'
import {
  composeStatementHead,
  readStatementHead,
  type StatementHead,
  type StatementRequest,
  streamStatementLines,
} from '../reports/account-statement.ts'
import { buildApprovalActivity } from '../reports/approval-activity.ts'
import { buildActivity } from '../reports/build-activity.ts'
import { buildAssetMovement } from '../reports/build-asset-movement.ts'
import { buildCategoryAnalytics } from '../reports/category-analytics.ts'
import { buildExceptions, type ExceptionsRequest, toException } from '../reports/exceptions.ts'
import { prepare } from '../reports/prepare.ts'
import type { ReportRequest } from '../reports/request.ts'
import {
  AccountStatementQuery,
  AccountStatementReport,
  AddressActivityQuery,
  AddressActivityReport,
  ApprovalActivityQuery,
  ApprovalActivityReport,
  AssetMovementReport,
  CategoryAnalyticsQuery,
  CategoryAnalyticsReport,
  CounterpartyActivityQuery,
  CounterpartyActivityReport,
  CounterpartyGroupActivityQuery,
  CounterpartyGroupActivityReport,
  OperationsExceptionsQuery,
  OperationsExceptionsReport,
  TransactionActivityQuery,
  TransactionActivityReport,
} from '../reports/schema.ts'
import { inSnapshot } from '../reports/snapshot.ts'
import { type ReportContent, toDocument } from './documents.ts'
import { toFacts } from './facts.ts'

/** A report as a document; `totalRows` is how many rows its tables have, roughly where they are streamed. */
export type OpenReport = { document: ReportDocument; totalRows: number }

/** A report whose parameters are right and whose subjects the caller may see, not yet read. */
export type PreparedReport = {
  request: ReportRequest
  /** Hands the report to `use`; its rows can be read until that returns. */
  open<Result>(use: (report: OpenReport) => Promise<Result>): Promise<Result>
}

type Parameters = Record<string, unknown>
type Opened = ReportContent & { totalRows?: number }
type Source = {
  query: TSchema
  prepare(db: Db, member: Member, parameters: Parameters, now: Date): Promise<PreparedReport>
}

/** Operations that one round trip fetches when all exceptions are read. */
const exceptionsPerPage = 1_000

export const reportTypes = [
  'address_activity',
  'counterparty_activity',
  'counterparty_group_activity',
  'transaction_activity',
  'asset_movement',
  'account_statement',
  'operations_exceptions',
  'approval_activity',
  'category_analytics',
] as const
export type ReportType = (typeof reportTypes)[number]

/** Every report as what it is asked with, what it answers, who may ask, and how it is read. */
export const sources: Record<ReportType, Source> = {
  address_activity: source(
    AddressActivityQuery,
    AddressActivityReport,
    prepare.address_activity,
    readWhole(buildActivity),
  ),
  counterparty_activity: source(
    CounterpartyActivityQuery,
    CounterpartyActivityReport,
    prepare.counterparty_activity,
    readWhole(buildActivity),
  ),
  counterparty_group_activity: source(
    CounterpartyGroupActivityQuery,
    CounterpartyGroupActivityReport,
    prepare.counterparty_group_activity,
    readWhole(buildActivity),
  ),
  transaction_activity: source(
    TransactionActivityQuery,
    TransactionActivityReport,
    prepare.transaction_activity,
    readWhole(buildActivity),
  ),
  asset_movement: source(
    TransactionActivityQuery,
    AssetMovementReport,
    prepare.asset_movement,
    readWhole(buildAssetMovement),
  ),
  account_statement: source(AccountStatementQuery, AccountStatementReport, prepare.account_statement, readStatement),
  operations_exceptions: source(
    OperationsExceptionsQuery,
    OperationsExceptionsReport,
    prepare.operations_exceptions,
    readExceptions,
  ),
  approval_activity: source(
    ApprovalActivityQuery,
    ApprovalActivityReport,
    prepare.approval_activity,
    readWhole(buildApprovalActivity),
  ),
  category_analytics: source(
    CategoryAnalyticsQuery,
    CategoryAnalyticsReport,
    prepare.category_analytics,
    readWhole(buildCategoryAnalytics),
  ),
}

function source<Query extends TSchema, Request extends ReportRequest>(
  query: Query,
  answer: TSchema,
  prepare: (db: Db, member: Member, query: Static<Query>, now: Date) => Promise<Request>,
  read: <Result>(db: Db, request: Request, use: (opened: Opened) => Promise<Result>) => Promise<Result>,
): Source {
  return {
    query,
    async prepare(db, member, parameters, now) {
      const request = await prepare(db, member, parameters as Static<Query>, now)
      return {
        request,
        open: (use) =>
          read(db, request, ({ totalRows, ...content }) => {
            const document = toDocument(answer, content, toFacts(member, request, content, parameters))
            return use({ document, totalRows: totalRows ?? countRows(content.report) })
          }),
      }
    },
  }
}

/** Reports whose size does not grow with operations are read whole, and the database is left before anything is written. */
function readWhole<Request>(build: (db: Db, request: Request) => Promise<ReportContent['report']>) {
  return async <Result>(db: Db, request: Request, use: (opened: Opened) => Promise<Result>): Promise<Result> =>
    use({ report: await build(db, request) })
}

function countRows(report: Record<string, unknown>): number {
  return Object.values(report).reduce<number>((sum, block) => sum + (Array.isArray(block) ? block.length : 1), 0)
}

/** Read in one snapshot from beginning to end, however long the writing takes. */
async function readStatement<Result>(
  db: Db,
  request: StatementRequest,
  use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    return use({
      report: composeStatementHead(request, head),
      streams: { lines: streamStatementLines(trx, request, head) },
      totalRows: await countEntries(trx, request, head),
    })
  })
}

/** How many lines a statement has at most: filters of categories are left out. */
async function countEntries(trx: Trx, { interval }: StatementRequest, { account }: StatementHead): Promise<number> {
  const numbers = sql`${[account.numbers.available, account.numbers.reserved]}::bigint[]`
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from (
      select sequence from ledger_entries
      where debit_account = any(${numbers}) and created_at >= ${interval.from} and created_at < ${interval.to}
      union
      select sequence from ledger_entries
      where credit_account = any(${numbers}) and created_at >= ${interval.from} and created_at < ${interval.to}
    ) entries`.execute(trx)
  return rows[0]!.count
}

/** Page by page, newest first, as a caller would read them; what is added meanwhile is newer than the interval. */
async function readExceptions<Result>(
  db: Db,
  request: ExceptionsRequest,
  use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const first = await buildExceptions(db, request, { after: null, limit: exceptionsPerPage })
  const { rows: firstRows, ...report } = first

  async function* operations() {
    let rows = firstRows
    for (;;) {
      for (const row of rows.slice(0, exceptionsPerPage)) yield toException(row)
      if (rows.length <= exceptionsPerPage) return
      const { created_at: createdAt, id } = rows[exceptionsPerPage - 1]!
      rows = (await buildExceptions(db, request, { after: { createdAt, id }, limit: exceptionsPerPage })).rows
    }
  }

  const counted = request.kinds.reduce((sum, kind) => sum + report.dataQuality[kind], 0)
  return use({ report, streams: { items: operations() }, totalRows: counted + report.accountDifferences.length + 1 })
}
