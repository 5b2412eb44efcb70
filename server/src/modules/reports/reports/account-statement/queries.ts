import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Trx } from '../../../../db/client.ts'
import type { Paging, Position } from '../../../../lib/cursor.ts'
import { notFound } from '../../../../lib/errors.ts'
import { sequenceOfId } from '../../../../lib/ids.ts'
import type { OperationType } from '../../../../lib/operations.ts'
import { findEntryAt } from '../../../money/ledger/queries.ts'
import type { Asset } from '../activity.ts'
import { findAssets } from '../details.ts'
import { isNarrowed, isWanted } from '../operation-filter.ts'
import type { ReportRequest } from '../request.ts'
import type { StatementLine } from './schema.ts'

export type StatementRequest = ReportRequest & { addressId: string; tokenId: string; page: Paging }

/** Raw amounts; the balance of an account is their sum. */
export type AccountBalances = { available: bigint; reserved: bigint }

export type LineRow = {
  sequence: string
  kind: Static<typeof StatementLine>['kind']
  operation_id: string
  operation_type: OperationType | null
  tx_hash: string | null
  counterparty_id: string | null
  counterparty_name: string | null
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
  }
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
  const { rows } = await sql<LineRow>`
    ${linesOf(request, head, after)} limit ${limit + 1}`.execute(trx)
  return rows
}

/** Lines that one round trip fetches when a whole statement is read. */
const linesPerFetch = 500

/** Every line of a statement, oldest first, as a stream: `trx` must be the transaction that read `head`. */
export async function* streamLines(trx: Trx, request: StatementRequest, head: StatementHead): AsyncGenerator<LineRow> {
  await sql`declare statement_lines no scroll cursor for ${linesOf(request, head, null)}`.execute(trx)
  for (;;) {
    const { rows } = await sql<LineRow>`fetch ${sql.lit(linesPerFetch)} from statement_lines`.execute(trx)
    yield* rows
    if (rows.length < linesPerFetch) break
  }
  await sql`close statement_lines`.execute(trx)
}

/** SQL: the lines of the interval after a position, each with the balances after all lines up to it, shown or not. */
function linesOf(
  { interval, filter, scope }: StatementRequest,
  { account, opening }: StatementHead,
  after: Position | null,
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
  return sql`
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
    )
    select s.sequence, s.kind, s.operation_id, s.created_at, s.available_change, s.reserved_change, s.available, s.reserved,
      p.type as operation_type, p.tx_hash, p.counterparty_id, p.counterparty_name
    from running s left join operations p on p.vault_id = ${scope.vaultId} and p.id = s.operation_id
    where ${sql.join(shown, sql` and `)}
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
