import { sql } from 'kysely'
import type { Static } from 'typebox'
import { type AddressScope, isAddressInScope, scopedAddressIds } from '../../../access/address-scope.ts'
import { type MemberProfile, profileOfUser } from '../../../access/profile.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Paging, Position } from '../../../lib/cursor.ts'
import { newestRate } from '../../registry/rates/queries.ts'
import { isAgreed } from './agreed.ts'
import type { EntryKind } from './postings.ts'
import type { Reconciliation } from './schema.ts'
import { totalsOfVault } from './totals.ts'

type BalanceFilter = { addressId: string | null; token: string | null }

type Token = { code: string; symbol: string; decimals: number }

export type TotalRow = {
  token: Token
  available: string
  reserved: string
  exposure: string
  usd_rate: string | null
}

/**
 * Returns available and reserved per token over the addresses in scope; vault-level accounts are not included. The totals of
 * the whole vault are stored, not summed.
 */
export async function listTotals(db: Db, scope: AddressScope, filter: BalanceFilter, now: Date): Promise<TotalRow[]> {
  const isAll = isEverything(scope) && filter.addressId === null
  const { rows } = await sql<TotalRow>`
    select s.available, s.reserved, s.exposure, r.usd_rate,
      json_build_object('code', t.code, 'symbol', t.symbol, 'decimals', t.decimals) as token
    from (${isAll ? totalsOfVault(scope) : totalsOfAccounts(scope, filter.addressId)}) s
    join tokens t on t.id = s.token_id ${newestRate('s.token_id', now)}
    ${filter.token === null ? sql`` : sql`where t.code = ${filter.token}`}
    order by t.code, t.id`.execute(db)
  return rows
}

const totalsOfAccounts = (scope: AddressScope, addressId: string | null) => sql`
  select l.token_id, sum(l.balance) filter (where l.purpose = 'available') as available,
    coalesce(sum(l.balance) filter (where l.purpose = 'reserved'), 0) as reserved, sum(l.exposure) as exposure
  from ledger_accounts l
  where l.vault_id = ${scope.vaultId} and l.address_id <> '' ${inScope(scope)}
    ${addressId === null ? sql`` : sql`and l.address_id = ${addressId}`}
  group by l.token_id`

export type AccountRow = {
  id: string
  purpose: 'available' | 'reserved' | 'external' | 'adjustment'
  balance: string
  exposure: string
  created_at: Date
  token_id: string
  code: string
  symbol: string
  decimals: number
  address_id: string | null
  address: string | null
  label: string | null
}

type AccountOptions = BalanceFilter & { purpose: AccountRow['purpose'] | null; after: Position | null; limit: number }

/**
 * Returns accounts in scope, newest first; up to one row more than the limit. A vault-level account stores no balance: the
 * balance of adjustment is the negated sum of the (few) adjustments of its token, and the balance of external is the negated
 * sum of all other accounts of its token.
 */
export async function listAccounts(db: Db, scope: AddressScope, options: AccountOptions): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    with page as (
      select l.*, t.code, t.symbol, t.decimals
      from ledger_accounts l
      join tokens t on t.id = l.token_id
      where l.vault_id = ${scope.vaultId} ${inScope(scope)}
        ${options.addressId === null ? sql`` : sql`and l.address_id = ${options.addressId}`}
        ${options.token === null ? sql`` : sql`and t.code = ${options.token}`}
        ${options.purpose === null ? sql`` : sql`and l.purpose = ${options.purpose}`}
        ${options.after === null ? sql`` : sql`and (l.created_at, l.id) < (${options.after.createdAt}, ${options.after.id})`}
      order by l.created_at desc, l.id desc limit ${options.limit + 1}
    )
    select p.id, p.purpose, p.exposure, p.created_at, p.token_id, p.code, p.symbol, p.decimals,
      a.id as address_id, a.address, a.label,
      case p.purpose
        when 'external' then -(select coalesce(sum(s.balance), 0) from ledger_accounts s
          where s.vault_id = p.vault_id and s.token_id = p.token_id and s.address_id <> '') - adjusted.balance
        when 'adjustment' then adjusted.balance
        else p.balance end as balance
    from page p
    left join addresses a on a.vault_id = p.vault_id and a.id = p.address_id
    left join lateral (
      select coalesce(-sum(d.amount), 0) as balance from adjustments d
      where p.address_id = '' and d.vault_id = p.vault_id and d.token_id = p.token_id
    ) adjusted on true
    order by p.created_at desc, p.id desc`.execute(db)
  return rows
}

export type StatementRow = {
  sequence: string
  kind: EntryKind
  operation_id: string
  amount: string
  balance: string
  created_at: Date
}

type StatementOptions = {
  accountNumber: string
  from: Date | null
  to: Date | null
  before: { createdAt: Date; sequence: string } | null
  limit: number
}

export type AccountKey = { addressId: string; tokenId: string; purpose: 'available' | 'reserved' }

export type StatementAccount = AccountKey & { number: string; code: string; decimals: number }

/** Returns the account of a statement, with its token; null when it is not in scope. */
export async function findAccount(db: Db, scope: AddressScope, key: AccountKey): Promise<StatementAccount | null> {
  const { rows } = await sql<{ number: string; code: string; decimals: number }>`
    select l.number, t.code, t.decimals
    from ledger_accounts l
    join addresses a on a.vault_id = l.vault_id and a.id = l.address_id
    join tokens t on t.id = l.token_id
    where l.vault_id = ${scope.vaultId} and l.address_id = ${key.addressId} and l.token_id = ${key.tokenId}
      and l.purpose = ${key.purpose} and ${isAddressInScope(scope, 'a')}`.execute(db)
  const [account] = rows
  return account === undefined ? null : { ...key, ...account }
}

/**
 * Returns entries of one account, newest first; up to one row more than the limit. The query reads one range of one index:
 * within an account the order of time is the order of the sequence, so bounds and a long history do not increase its cost.
 */
export async function listStatement(db: Db, options: StatementOptions): Promise<StatementRow[]> {
  const { accountNumber, from, to, before, limit } = options
  // Only the nearer of the two upper bounds is used, because PostgreSQL might start at the other one.
  const upper =
    before !== null && (to === null || before.createdAt <= to)
      ? sql`and (created_at, sequence) < (${before.createdAt}, ${before.sequence}::bigint)`
      : to !== null
        ? sql`and created_at <= ${to}`
        : sql``
  const side = (account: 'debit' | 'credit') => sql`
    (select sequence, kind, operation_id, ${sql.raw(account === 'debit' ? '-amount' : 'amount')} as amount,
      ${sql.ref(`${account}_balance`)} as balance, created_at
    from ledger_entries
    where ${sql.ref(`${account}_account`)} = ${accountNumber}::bigint ${upper}
      ${from === null ? sql`` : sql`and created_at >= ${from}`}
    order by created_at desc, sequence desc limit ${limit + 1})`
  const { rows } = await sql<StatementRow>`
    select * from (${side('debit')} union all ${side('credit')}) sides
    order by created_at desc, sequence desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns the newest entry of an account at a time, whose resulting balance is the balance at that time; null before the first entry. */
export async function findEntryAt(db: Db, accountNumber: string, at: Date): Promise<StatementRow | null> {
  const [newest] = await listStatement(db, { accountNumber, from: null, to: at, before: null, limit: 0 })
  return newest ?? null
}

/** Keeps only accounts `l` of addresses in scope; vault-level accounts belong to no address. */
const inScope = (scope: AddressScope) =>
  isEverything(scope) ? sql`` : sql`and l.address_id in (${scopedAddressIds(scope)})`

const isEverything = (scope: AddressScope) => scope.isWholeVault && scope.folderId === null

/** The sums of a token in the books, as a reconciliation shows them. */
type TokenSums = Omit<Static<typeof Reconciliation>['tokens'][number], 'onChain' | 'difference'>

/**
 * Returns the cached balances and the sums of the entries per token. A coin in which only a fee is owed is included, although
 * it has no account yet.
 */
export async function listTokenSums(db: Db | Trx, vaultId: string): Promise<TokenSums[]> {
  const { rows } = await sql<TokenSums>`
    with sides as (
      select token_id, -amount as delta, debit_account is not null as is_address from ledger_entries where vault_id = ${vaultId}
      union all
      select token_id, amount, credit_account is not null from ledger_entries where vault_id = ${vaultId}
    ), recomputed as (
      select token_id, sum(delta) as total, coalesce(sum(delta) filter (where is_address), 0) as held from sides group by token_id
    ), cached as (
      select token_id, sum(balance) as held, sum(exposure) as exposure from ledger_accounts
      where vault_id = ${vaultId} and address_id <> '' group by token_id
    ), fees as (
      select t.fee_token_id as token_id, sum(t.fee) as outstanding from transfers t
      where t.vault_id = ${vaultId} and t.fee_owed group by t.fee_token_id
    )
    select json_build_object('id', t.id, 'code', t.code, 'network', n.slug, 'decimals', t.decimals) as token,
      coalesce(c.held, 0) as cached, coalesce(c.exposure, 0) as exposure, coalesce(r.held, 0) as recomputed,
      coalesce(r.total, 0) as "sumOfPostings", coalesce(f.outstanding, 0) as "outstandingFees"
    from tokens t
    join networks n on n.id = t.network_id
    left join cached c on c.token_id = t.id
    left join recomputed r on r.token_id = t.id
    left join fees f on f.token_id = t.id
    where coalesce(c.token_id, r.token_id, f.token_id) is not null order by t.code, t.id`.execute(db)
  return rows
}

/** Locks an account of available funds and returns its balance in raw units. */
export async function lockAccountOf(
  trx: Trx,
  vaultId: string,
  { addressId, tokenId }: { addressId: string; tokenId: string },
): Promise<bigint> {
  const { rows } = await sql<{ balance: string }>`
    select balance from ledger_accounts where vault_id = ${vaultId} and address_id = ${addressId}
      and token_id = ${tokenId} and purpose = 'available' for update`.execute(trx)
  return BigInt(rows[0]?.balance ?? '0')
}

/** An adjustment as it is shown. */
export type AdjustmentRow = {
  id: string
  vault_id: string
  address_id: string
  token_id: string
  amount: string
  address: string
  code: string
  decimals: number
  reason: string
  is_agreed: boolean
  created_by_id: string
  created_by: MemberProfile | null
  created_at: Date
}

/** Returns one page of the adjustments, newest first; up to one row more than the limit. */
export async function listAdjustments(
  db: Db | Trx,
  vaultId: string,
  { id, isAgreed: wanted }: { id?: string; isAgreed?: boolean | undefined },
  { after, limit }: Paging,
): Promise<AdjustmentRow[]> {
  const { rows } = await sql<AdjustmentRow>`
    select d.id, d.vault_id, d.address_id, d.token_id, d.amount::text as amount, a.address, t.code, t.decimals, d.reason,
      ${isAgreed('d')} as is_agreed, d.created_by_id, ${profileOfUser(sql.ref('d.created_by_id'))} as created_by, d.created_at
    from adjustments d
    join addresses a on a.vault_id = d.vault_id and a.id = d.address_id
    join tokens t on t.id = d.token_id
    where d.vault_id = ${vaultId} ${id === undefined ? sql`` : sql`and d.id = ${id}`}
      ${wanted === undefined ? sql`` : sql`and ${isAgreed('d')} = ${wanted}`}
      ${after === null ? sql`` : sql`and (d.created_at, d.id) < (${after.createdAt}, ${after.id})`}
    order by d.created_at desc, d.id desc limit ${limit + 1}`.execute(db)
  return rows
}
