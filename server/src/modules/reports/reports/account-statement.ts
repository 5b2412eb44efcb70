import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Position } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { idOfSequence, newId, sequenceOfId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { findEntryAt } from '../../money/ledger/queries.ts'
import type { Asset } from './activity.ts'
import { nameAsset } from './flows.ts'
import { isNarrowed, isWanted } from './operation-filter.ts'
import { findAssets } from './queries.ts'
import { type FilteredRequest, headerOf } from './request.ts'
import { inSnapshot } from './snapshot.ts'

export type StatementRequest = FilteredRequest & { addressId: string; tokenId: string }

/** Raw amounts; the balance is what the address owns, reserved or not. */
export type Standing = { available: bigint; reserved: bigint }

type EntryKind = 'deposit' | 'reserve' | 'settle' | 'release' | 'fee' | 'adjust'

type LineRow = {
  sequence: string
  kind: EntryKind
  operation_id: string
  operation_type: 'transfer' | 'deposit' | null
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
  opening: Standing
  closing: Standing
}

/** Lines that one round trip fetches when a whole statement is read. */
const linesPerFetch = 500

/** The statement of one address and token: its head, and one page of its lines, oldest first. */
export async function buildAccountStatement(
  db: Db,
  request: StatementRequest,
  page: { after: Position | null; limit: number },
) {
  return inSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    const { rows } = await sql<LineRow>`
      ${linesOf(request, head, page.after)} limit ${page.limit + 1}`.execute(trx)
    return {
      ...composeStatementHead(request, head),
      lines: rows.slice(0, page.limit).map((row) => toLine(row, head.asset)),
      // The cursor of a list of rows that a sequence counts: the date and the sequence of the last one.
      last: rows.length > page.limit ? positionOf(rows[page.limit - 1]!) : null,
    }
  })
}

/** Every line of a statement, oldest first, without holding them: `trx` must stay the one that read `head`. */
export async function* streamStatementLines(trx: Trx, request: StatementRequest, head: StatementHead) {
  await sql`declare statement_lines no scroll cursor for ${linesOf(request, head, null)}`.execute(trx)
  for (;;) {
    const { rows } = await sql<LineRow>`fetch ${sql.lit(linesPerFetch)} from statement_lines`.execute(trx)
    for (const row of rows) yield toLine(row, head.asset)
    if (rows.length < linesPerFetch) break
  }
  await sql`close statement_lines`.execute(trx)
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
    opening: await readStanding(trx, account, interval.from),
    closing: await readStanding(trx, account, interval.to),
  }
}

/** What the accounts held before a moment: what their newest entries of before left. */
async function readStanding(trx: Trx, { numbers }: Account, before: Date): Promise<Standing> {
  // Times are milliseconds, on the wire and in the books.
  const last = new Date(before.getTime() - 1)
  const heldBy = async (number: string | null) =>
    number === null ? 0n : BigInt((await findEntryAt(trx, number, last))?.balance ?? 0)
  return { available: await heldBy(numbers.available), reserved: await heldBy(numbers.reserved) }
}

/** SQL: the lines of the interval after a position; every one knows what all before it, shown or not, left. */
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
    ), standings as (
      select changes.*,
        ${opening.available.toString()}::numeric + sum(available_change) over passed as available,
        ${opening.reserved.toString()}::numeric + sum(reserved_change) over passed as reserved
      from changes window passed as (order by created_at, sequence)
    )
    select s.sequence, s.kind, s.operation_id, s.created_at, s.available_change, s.reserved_change, s.available, s.reserved,
      p.type as operation_type, p.tx_hash, p.counterparty_id, p.counterparty_name
    from standings s left join operations p on p.vault_id = ${scope.vaultId} and p.id = s.operation_id
    where ${sql.join(shown, sql` and `)}
    order by s.created_at, s.sequence`
}

const positionOf = (row: LineRow): Position => ({
  createdAt: row.created_at,
  id: idOfSequence(row.created_at, BigInt(row.sequence)),
})

function toLine(row: LineRow, { decimals }: Asset) {
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
    ...toStanding({ available: BigInt(row.available), reserved: BigInt(row.reserved) }, decimals),
    createdAt: row.created_at.toISOString(),
  }
}

function toStanding({ available, reserved }: Standing, decimals: number) {
  return {
    available: formatDecimal(available, decimals),
    reserved: formatDecimal(reserved, decimals),
    balance: formatDecimal(available + reserved, decimals),
  }
}

/** Everything of a statement but its lines. */
export function composeStatementHead(request: StatementRequest, { account, asset, opening, closing }: StatementHead) {
  return {
    report: headerOf(request, {
      id: newId(request.now),
      dateBasis: 'createdAt',
      classificationMode: request.filter.counterpartyClassification,
    }),
    account: { addressId: request.addressId, address: account.address, label: account.label, ...nameAsset(asset) },
    opening: toStanding(opening, asset.decimals),
    closing: toStanding(closing, asset.decimals),
  }
}
