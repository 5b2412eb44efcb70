import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Member } from '../../../../access/caller.ts'
import type { Db, Trx } from '../../../../db/client.ts'
import { encodeCursor, type Paging, type Position, pageOf } from '../../../../lib/cursor.ts'
import { notFound } from '../../../../lib/errors.ts'
import { idOfSequence, sequenceOfId } from '../../../../lib/ids.ts'
import { formatDecimal } from '../../../../lib/money.ts'
import type { OperationType } from '../../../../lib/operations.ts'
import { findEntryAt } from '../../../money/ledger/queries.ts'
import { type Asset, nameAsset } from '../activity.ts'
import type { Interval } from '../buckets.ts'
import { findAssets, joinCounterparty } from '../details.ts'
import { isNarrowed, isWanted } from '../operation-filter.ts'
import { inSnapshot, type ReportContent, type ReportRequest, readReportRequest, toHeader } from '../request.ts'
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
  const change = availableChange + reservedChange
  return {
    id: positionOf(row).id,
    kind: row.kind,
    operationId: row.operation_id,
    operationType: row.operation_type,
    txHash: row.tx_hash,
    counterparty: row.counterparty_id === null ? null : { id: row.counterparty_id, name: row.counterparty_name ?? '' },
    otherAddress: row.other_address,
    paymentPurpose: row.payment_purpose,
    note: row.note,
    debit: change < 0n ? amount(-change) : null,
    credit: change > 0n ? amount(change) : null,
    usdValue: row.usd_value,
    availableChange: amount(availableChange),
    reservedChange: amount(reservedChange),
    balanceChange: amount(change),
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
function toHead(request: StatementRequest, { account, asset, opening, closing, totals }: StatementHead) {
  return {
    report: toHeader(request),
    account: { addressId: request.addressId, address: account.address, label: account.label, ...nameAsset(asset) },
    opening: toBalances(opening, asset.decimals),
    closing: toBalances(closing, asset.decimals),
    totals: {
      debits: formatDecimal(totals.debits, asset.decimals),
      credits: formatDecimal(totals.credits, asset.decimals),
    },
  }
}

export type StatementRequest = ReportRequest & { addressId: string; tokenId: string; page: Paging }

/** Raw amounts; the balance of an account is their sum. */
export type AccountBalances = { available: bigint; reserved: bigint }

/** Raw amounts that left the account and that reached it. */
export type AccountTotals = { debits: bigint; credits: bigint }

export type LineRow = {
  sequence: string
  kind: Static<typeof StatementLine>['kind']
  operation_id: string
  operation_type: OperationType | null
  tx_hash: string | null
  counterparty_id: string | null
  counterparty_name: string | null
  other_address: string | null
  payment_purpose: string | null
  note: string | null
  usd_value: string | null
  available_change: string
  reserved_change: string
  available: string
  reserved: string
  created_at: Date
}

type Account = { address: string; label: string | null; numbers: { available: string | null; reserved: string | null } }

export type StatementHead = {
  account: Account
  asset: Asset
  opening: AccountBalances
  closing: AccountBalances
  totals: AccountTotals
}

/** @throws 404 for an address outside the scope, or a token that does not exist */
export async function readStatementHead(trx: Trx, request: StatementRequest): Promise<StatementHead> {
  const { addressId, tokenId, interval, scope } = request
  const asset = (await findAssets(trx, [tokenId])).get(tokenId)
  if (asset === undefined) throw notFound('Token')
  const { rows } = await sql<{
    address: string
    label: string | null
    available: string | null
    reserved: string | null
  }>`
    select a.address, a.label,
      (select number from ledger_accounts l where l.vault_id = a.vault_id and l.address_id = a.id
        and l.token_id = ${tokenId} and l.purpose = 'available') as available,
      (select number from ledger_accounts l where l.vault_id = a.vault_id and l.address_id = a.id
        and l.token_id = ${tokenId} and l.purpose = 'reserved') as reserved
    from addresses a where a.vault_id = ${scope.vaultId} and a.id = ${addressId}`.execute(trx)
  const [found] = rows
  if (found === undefined) throw notFound('Address')
  const { address, label, ...numbers } = found
  const account = { address, label, numbers }
  return {
    account,
    asset,
    opening: await readBalances(trx, account, interval.from),
    closing: await readBalances(trx, account, interval.to),
    totals: await readTotals(trx, account, interval),
  }
}

/** What moves between the available and the reserved part of the account neither leaves nor reaches it. */
async function readTotals(trx: Trx, { numbers }: Account, { from, to }: Interval): Promise<AccountTotals> {
  const own = sql`${[numbers.available, numbers.reserved]}::bigint[]`
  const within = sql`e.created_at >= ${from} and e.created_at < ${to}`
  const { rows } = await sql<{ debits: string; credits: string }>`
    select
      (select coalesce(sum(e.amount), 0) from ledger_entries e where e.debit_account = any(${own}) and ${within}
        and (e.credit_account = any(${own})) is not true) as debits,
      (select coalesce(sum(e.amount), 0) from ledger_entries e where e.credit_account = any(${own}) and ${within}
        and (e.debit_account = any(${own})) is not true) as credits`.execute(trx)
  const { debits, credits } = rows[0]!
  return { debits: BigInt(debits), credits: BigInt(credits) }
}

/** The balances of the accounts before a moment: the resulting balances of their newest entries before it. */
async function readBalances(trx: Trx, { numbers }: Account, before: Date): Promise<AccountBalances> {
  // Times are milliseconds, on the wire and in the ledger.
  const last = new Date(before.getTime() - 1)
  const heldBy = async (number: string | null) =>
    number === null ? 0n : BigInt((await findEntryAt(trx, number, last))?.balance ?? 0)
  return { available: await heldBy(numbers.available), reserved: await heldBy(numbers.reserved) }
}

/** The lines of one page, oldest first, and one more when there is a further page. */
export async function listLines(
  trx: Trx,
  request: StatementRequest,
  head: StatementHead,
  { after, limit }: Paging,
): Promise<LineRow[]> {
  const { rows } = await linesOf(request, head, { after, limit: limit + 1 }).execute(trx)
  return rows
}

/** Lines that one round trip fetches when a whole statement is read. */
const linesPerFetch = 500

/** Every line of a statement, oldest first, as a stream: `trx` must be the transaction that read `head`. */
export async function* streamLines(trx: Trx, request: StatementRequest, head: StatementHead): AsyncGenerator<LineRow> {
  await sql`declare statement_lines no scroll cursor for ${linesOf(request, head, { after: null, limit: null })}`.execute(
    trx,
  )
  for (;;) {
    const { rows } = await sql<LineRow>`fetch ${sql.lit(linesPerFetch)} from statement_lines`.execute(trx)
    yield* rows
    if (rows.length < linesPerFetch) break
  }
  await sql`close statement_lines`.execute(trx)
}

/**
 * SQL: the lines of the interval after a position, each with the balances after all lines up to it, shown or not.
 *
 * @param limit null: all of them
 */
function linesOf(
  { interval, filter, scope }: StatementRequest,
  { account, opening }: StatementHead,
  { after, limit }: { after: Position | null; limit: number | null },
) {
  const numbers = sql`${[account.numbers.available, account.numbers.reserved]}::bigint[]`
  const changeOf = (
    number: string | null,
  ) => sql`(case when e.credit_account = ${number}::bigint then e.amount else 0 end
    - case when e.debit_account = ${number}::bigint then e.amount else 0 end)`
  const shown = [
    after === null
      ? sql`true`
      : sql`(s.created_at, s.sequence) > (${after.createdAt}, ${sequenceOfId(after.id).toString()}::bigint)`,
    isNarrowed(filter)
      ? sql`exists (select from operations o where o.vault_id = ${scope.vaultId} and o.id = s.operation_id and ${isWanted(filter)})`
      : sql`true`,
  ]
  return sql<LineRow>`
    with touched as (
      select * from ledger_entries where debit_account = any(${numbers})
      union
      select * from ledger_entries where credit_account = any(${numbers})
    ), changes as (
      select e.sequence, e.kind, e.operation_id, e.created_at,
        ${changeOf(account.numbers.available)} as available_change, ${changeOf(account.numbers.reserved)} as reserved_change
      from touched e where e.created_at >= ${interval.from} and e.created_at < ${interval.to}
    ), running as (
      select changes.*,
        ${opening.available.toString()}::numeric + sum(available_change) over passed as available,
        ${opening.reserved.toString()}::numeric + sum(reserved_change) over passed as reserved
      from changes window passed as (order by created_at, sequence)
    ), page as (
      select * from running s where ${sql.join(shown, sql` and `)} order by s.created_at, s.sequence limit ${limit}::bigint
    )
    select s.sequence, s.kind, s.operation_id, s.created_at, s.available_change, s.reserved_change, s.available, s.reserved,
      o.type as operation_type, o.tx_hash, party.id as counterparty_id, party.name as counterparty_name,
      coalesce(t.to_address, d.from_address) as other_address, o.payment_purpose, o.note,
      case when s.kind in ('deposit', 'settle') then o.usd_value end as usd_value
    from page s left join operations o on o.vault_id = ${scope.vaultId} and o.id = s.operation_id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    ${joinCounterparty(filter.counterpartyClassification, 'party')}
    order by s.created_at, s.sequence`
}

/** The maximum number of lines of a statement; filters by category are ignored. */
export async function countEntries(
  trx: Trx,
  { interval }: StatementRequest,
  { account }: StatementHead,
): Promise<number> {
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
