import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allVisible, isOperationInScope } from '../../../access/address-scope.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { Closed, described, Enum, Id, Nullable, pageQuery, Ref, Timestamp } from '../../../http/schema.ts'
import { type Position, toPage } from '../../../lib/cursor.ts'
import { notFound } from '../../../lib/errors.ts'
import { idOfSequence, sequenceOfId } from '../../../lib/ids.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { entryKinds } from '../../money/ledger/postings.ts'
import { findEntryAt } from '../../money/ledger/queries.ts'
import { feeFigures } from '../blocks/fees.ts'
import { nameAsset } from '../blocks/flows.ts'
import type { Interval } from '../requests/buckets.ts'
import type { Asset } from '../requests/details.ts'
import { findAssets, joinCounterparty, type PartyColumns, toParty } from '../requests/details.ts'
import { centsOf, formatUsd } from '../requests/exact.ts'
import { isByCategory, isCategorized } from '../requests/operation-filter.ts'
import { countRows, inHeldSnapshot, inSnapshot, streamRows } from '../requests/reading.ts'
import { type PagedRequest, type ReportContent, toHeader } from '../requests/report-request.ts'
import {
  Amount,
  asset,
  BreakdownIgnored,
  commonQuery,
  filters,
  named,
  ReportHeader,
  RequiredKey,
  shownAs,
  Text,
} from '../requests/schema.ts'

export const AccountStatementQuery = Closed({
  ...commonQuery,
  addressId: RequiredKey('Identifier of the address whose statement it is.'),
  tokenId: RequiredKey('Identifier of the token whose statement it is.'),
  categoryKeys: filters.categoryKeys,
  categoryField: filters.categoryField,
  breakdownBy: BreakdownIgnored,
  ...pageQuery,
})

export const AccountStanding = Closed(
  { available: Amount, reserved: Amount, balance: Amount },
  { $id: 'AccountStanding', description: 'The balance is available and reserved together.' },
)

export const StatementTotals = Closed(
  {
    debits: Amount,
    credits: Amount,
    fees: shownAs(
      'amount',
      Type.String({
        description: 'Network fees, which are a part of `debits`; decimal, in token units.',
        examples: ['0.5'],
      }),
    ),
    feesUsd: feeFigures.feesUsd,
    otherDebits: described(Amount, 'Debits that are not network fees: `debits` less `fees`.'),
  },
  {
    $id: 'AccountStatementTotals',
    description: 'Debits and credits of the account in the interval: opening + credits - debits = closing.',
  },
)

export const StatementLine = Closed(
  {
    id: Id,
    kind: described(
      Enum(entryKinds),
      'Kind of the entry: a deposit (`deposit`) or its correction (`correct`); the reservation of a transfer ' +
        '(`reserve`), its settlement (`settle`) or release (`release`); a network fee (`fee`); an adjustment ' +
        '(`adjust`); a hold (`hold`) or its release (`hold_release`); the removal of an orphaned deposit (`orphan`) ' +
        'or its return (`orphan_return`); the cover of an exposure (`cover`).',
    ),
    operationId: described(
      Id,
      'Identifier of the transfer, deposit, adjustment, hold, orphaning or cover of the entry.',
    ),
    operationType: described(
      Nullable(Enum(['transfer', 'deposit'])),
      'Type of the operation; null if the entry belongs to neither a transfer nor a deposit, or to a transfer of another ' +
        'address that the reader may not see: only its fee is shown.',
    ),
    txHash: Nullable(Text('0x7f9c3f5b5d3a')),
    counterparty: named,
    otherAddress: Nullable(
      Type.String({
        description: 'Address of the other side of the operation.',
        examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
      }),
    ),
    paymentPurpose: Nullable(Text('Invoice 4711')),
    note: Nullable(Text('Second instalment')),
    debit: Nullable(Amount),
    credit: Nullable(Amount),
    usdValue: Nullable(
      shownAs(
        'usd',
        Type.String({
          description:
            'At the posting of an amount, USD value of the operation at its creation; at the posting of a fee, USD value ' +
            'of the fee when it was booked; null at other postings.',
          examples: ['1250.50'],
        }),
      ),
    ),
    availableChange: Amount,
    reservedChange: Amount,
    balanceChange: Amount,
    available: Amount,
    reserved: Amount,
    balance: Amount,
    createdAt: Timestamp,
  },
  { $id: 'AccountStatementLine' },
)

export const AccountStatementReport = Closed(
  {
    report: Ref(ReportHeader),
    account: described(
      Closed({
        addressId: Id,
        address: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
        label: Nullable(Text('Operations')),
        ...asset,
      }),
      'The address and token that the statement is about.',
    ),
    opening: Ref(AccountStanding),
    closing: Ref(AccountStanding),
    totals: Ref(StatementTotals),
    lines: described(Type.Array(Ref(StatementLine)), 'The postings of the account, in their order.'),
    nextCursor: Nullable(Text('MTc2ODAuY21pOGgyazFw')),
  },
  { $id: 'AccountStatementReport' },
)

type StatementRequest = PagedRequest & { addressId: string; tokenId: string }

/** Builds the statement of one address and token with one page of its lines, oldest first. */
export async function buildAccountStatement(
  db: Db,
  request: StatementRequest,
): Promise<Static<typeof AccountStatementReport>> {
  const { after, limit } = request.page
  return inSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    const { rows } = await linesOf(request, head, { after, limit: limit + 1 }).execute(trx)
    const { items: lines, nextCursor } = toPage(rows, limit, positionOf, (row) => toLine(row, head.asset))
    return { ...toHead(request, head), lines, nextCursor }
  })
}

/** Opens the statement with all of its lines, read in one snapshot from beginning to end, however long `use` takes. */
export async function openAccountStatement<Result>(
  db: Db,
  request: StatementRequest,
  use: (content: ReportContent) => Promise<Result>,
): Promise<Result> {
  return inHeldSnapshot(db, async (trx) => {
    const head = await readStatementHead(trx, request)
    async function* lines() {
      const all = linesOf(request, head, { after: null, limit: null })
      for await (const row of streamRows(trx, all)) yield toLine(row, head.asset)
    }
    const totalRows = await countEntries(trx, request, head)
    return use({ report: toHead(request, head), streams: { lines: lines() }, totalRows })
  })
}

/** The columns of a line as its answer has them, and the columns that further fields are made from. */
type Line = PartyColumns &
  Pick<
    Static<typeof StatementLine>,
    'kind' | 'operationId' | 'operationType' | 'txHash' | 'otherAddress' | 'paymentPurpose' | 'note' | 'usdValue'
  > & {
    sequence: string
    availableChange: string
    reservedChange: string
    available: string
    reserved: string
    createdAt: Date
  }

/** Returns the position of a line in the list: its date and its sequence. */
const positionOf = ({ createdAt, sequence }: Line): Position => ({
  createdAt,
  id: idOfSequence(createdAt, BigInt(sequence)),
})

/** Names each field, so that no row of a long statement is copied on its way. */
function toLine(row: Line, { decimals }: Asset): Static<typeof StatementLine> {
  const amount = (raw: bigint) => formatDecimal(raw, decimals)
  const [availableChange, reservedChange] = [BigInt(row.availableChange), BigInt(row.reservedChange)]
  const change = availableChange + reservedChange
  return {
    id: positionOf(row).id,
    kind: row.kind,
    operationId: row.operationId,
    operationType: row.operationType,
    txHash: row.txHash,
    counterparty: toParty(row),
    otherAddress: row.otherAddress,
    paymentPurpose: row.paymentPurpose,
    note: row.note,
    debit: change < 0n ? amount(-change) : null,
    credit: change > 0n ? amount(change) : null,
    usdValue: row.usdValue,
    availableChange: amount(availableChange),
    reservedChange: amount(reservedChange),
    balanceChange: amount(change),
    ...toBalances({ available: BigInt(row.available), reserved: BigInt(row.reserved) }, decimals),
    createdAt: row.createdAt.toISOString(),
  }
}

function toBalances({ available, reserved }: AccountBalances, decimals: number): Static<typeof AccountStanding> {
  return {
    available: formatDecimal(available, decimals),
    reserved: formatDecimal(reserved, decimals),
    balance: formatDecimal(available + reserved, decimals),
  }
}

/** Returns the statement without its lines. */
function toHead(request: StatementRequest, { account, asset, opening, closing, totals }: StatementHead) {
  return {
    report: toHeader(request),
    account: { addressId: request.addressId, address: account.address, label: account.label, ...nameAsset(asset) },
    opening: toBalances(opening, asset.decimals),
    closing: toBalances(closing, asset.decimals),
    totals: {
      debits: formatDecimal(totals.debits, asset.decimals),
      credits: formatDecimal(totals.credits, asset.decimals),
      fees: formatDecimal(totals.fees, asset.decimals),
      feesUsd: formatUsd(totals.feesUsd),
      otherDebits: formatDecimal(totals.debits - totals.fees, asset.decimals),
    },
  }
}

/** Raw amounts; the balance of an account is their sum. */
type AccountBalances = { available: bigint; reserved: bigint }

/** Raw amounts that left the account, that reached it, and that left it as network fees, which are also in cents. */
type AccountTotals = { debits: bigint; credits: bigint; fees: bigint; feesUsd: bigint }

/** An address, with the numbers of its accounts of the token in the ledger. */
type Account = { address: string; label: string | null; available: string | null; reserved: string | null }

const numbersOf = ({ available, reserved }: Account) => sql`${[available, reserved]}::bigint[]`

type StatementHead = {
  account: Account
  asset: Asset
  opening: AccountBalances
  closing: AccountBalances
  totals: AccountTotals
}

/**
 * `prepare` has checked that the member may see the address.
 * @throws 404 if the vault has no such address, or if the token does not exist
 */
async function readStatementHead(trx: Trx, { addressId, tokenId, filter }: StatementRequest): Promise<StatementHead> {
  const { scope, interval } = filter
  const asset = (await findAssets(trx, [tokenId])).get(tokenId)
  if (asset === undefined) throw notFound('Token')
  const numberOf = (purpose: 'available' | 'reserved') => sql`(
    select number from ledger_accounts l where l.vault_id = a.vault_id and l.address_id = a.id
      and l.token_id = ${tokenId} and l.purpose = ${purpose})`
  const { rows } = await sql<Account>`
    select a.address, a.label, ${numberOf('available')} as available, ${numberOf('reserved')} as reserved
    from addresses a where a.vault_id = ${scope.vaultId} and a.id = ${addressId}`.execute(trx)
  const [account] = rows
  if (account === undefined) throw notFound('Address')
  return {
    account,
    asset,
    opening: await readBalances(trx, account, interval.from),
    closing: await readBalances(trx, account, interval.to),
    totals: await readTotals(trx, account, interval),
  }
}

/** Reads the totals. A movement between the available and the reserved part of the account neither leaves nor reaches it. */
async function readTotals(trx: Trx, account: Account, { from, to }: Interval): Promise<AccountTotals> {
  const numbers = numbersOf(account)
  const within = sql`e.created_at >= ${from} and e.created_at < ${to}`
  const { rows } = await sql<{ debits: string; credits: string; fees: string; feesUsd: string | null }>`
    select
      (select coalesce(sum(e.amount), 0) from ledger_entries e where e.debit_account = any(${numbers}) and ${within}
        and (e.credit_account = any(${numbers})) is not true) as debits,
      (select coalesce(sum(e.amount), 0) from ledger_entries e where e.credit_account = any(${numbers}) and ${within}
        and (e.debit_account = any(${numbers})) is not true) as credits,
      (select coalesce(sum(e.amount), 0) from ledger_entries e where e.debit_account = any(${numbers}) and ${within}
        and e.kind = 'fee') as fees,
      (select sum(o.fee_usd_value) from ledger_entries e join operations o on o.vault_id = e.vault_id and o.id = e.operation_id
        where e.debit_account = any(${numbers}) and ${within} and e.kind = 'fee') as "feesUsd"`.execute(trx)
  const { debits, credits, fees, feesUsd } = rows[0]!
  return { debits: BigInt(debits), credits: BigInt(credits), fees: BigInt(fees), feesUsd: centsOf(feesUsd) }
}

/** Returns the balances of the accounts before a moment: the resulting balances of their newest entries before it. */
async function readBalances(trx: Trx, { available, reserved }: Account, before: Date): Promise<AccountBalances> {
  // Times are milliseconds, on the wire and in the ledger.
  const last = new Date(before.getTime() - 1)
  const heldBy = async (number: string | null) =>
    number === null ? 0n : BigInt((await findEntryAt(trx, number, last))?.balance ?? 0)
  return { available: await heldBy(available), reserved: await heldBy(reserved) }
}

/**
 * SQL: the lines of the interval after a position, each with the balances after all lines up to it, shown or not. A line may be of
 * an operation of another address, for which this address paid the fee. Such a line tells of the operation only to a viewer of it,
 * and a filter by category looks at every operation that the viewer sees.
 *
 * @param limit null for all lines
 */
function linesOf(
  { addressId, filter }: StatementRequest,
  { account, opening }: StatementHead,
  { after, limit }: { after: Position | null; limit: number | null },
) {
  const { scope, interval } = filter
  const isSeen = sql`(o.address_id = ${addressId} or ${isOperationInScope(allVisible(scope), 'o')})`
  const changeOf = (
    number: string | null,
  ) => sql`(case when e.credit_account = ${number}::bigint then e.amount else 0 end
    - case when e.debit_account = ${number}::bigint then e.amount else 0 end)`
  const shown = [
    after === null
      ? sql`true`
      : sql`(s.created_at, s.sequence) > (${after.createdAt}, ${sequenceOfId(after.id).toString()}::bigint)`,
    isByCategory(filter)
      ? sql`exists (select from operations o where o.vault_id = ${scope.vaultId} and o.id = s.operation_id
          and ${isOperationInScope(allVisible(scope), 'o')} and ${isCategorized(filter)})`
      : sql`true`,
  ]
  return sql<Line>`
    with changes as (
      select e.sequence, e.kind, e.operation_id, e.created_at,
        ${changeOf(account.available)} as available_change, ${changeOf(account.reserved)} as reserved_change
      from (${entriesOf(account, interval, sql`*`)}) e
    ), running as (
      select changes.*,
        ${opening.available.toString()}::numeric + sum(available_change) over passed as available,
        ${opening.reserved.toString()}::numeric + sum(reserved_change) over passed as reserved
      from changes window passed as (order by created_at, sequence)
    ), page as (
      select * from running s where ${sql.join(shown, sql` and `)} order by s.created_at, s.sequence limit ${limit}::bigint
    )
    select s.sequence, s.kind, s.operation_id as "operationId", o.type as "operationType", o.tx_hash as "txHash",
      party.id as "partyId", party.name as "partyName", coalesce(t.to_address, d.from_address) as "otherAddress",
      o.payment_purpose as "paymentPurpose", o.note,
      case when s.kind in ('deposit', 'settle') then o.usd_value when s.kind = 'fee' then paid.fee_usd_value end as "usdValue",
      s.available_change as "availableChange", s.reserved_change as "reservedChange", s.available, s.reserved,
      s.created_at as "createdAt"
    from page s
    left join operations paid on s.kind = 'fee' and paid.vault_id = ${scope.vaultId} and paid.id = s.operation_id
    left join operations o on o.vault_id = ${scope.vaultId} and o.id = s.operation_id and ${isSeen}
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    ${joinCounterparty(filter.counterpartyClassification, 'party')}
    order by s.created_at, s.sequence`
}

/** The maximum number of lines of a statement; filters by category are ignored. */
const countEntries = (trx: Trx, { filter }: StatementRequest, { account }: StatementHead): Promise<number> =>
  countRows(trx, sql`from (${entriesOf(account, filter.interval, sql`sequence`)}) entries`)

/** SQL: the entries of the accounts in the interval; an entry between the two accounts counts once. */
function entriesOf(account: Account, { from, to }: Interval, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  const numbers = numbersOf(account)
  const within = sql`created_at >= ${from} and created_at < ${to}`
  return sql`
    select ${columns} from ledger_entries where debit_account = any(${numbers}) and ${within}
    union
    select ${columns} from ledger_entries where credit_account = any(${numbers}) and ${within}`
}
