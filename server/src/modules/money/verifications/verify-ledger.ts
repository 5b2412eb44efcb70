import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'

/** The checks of `verifyLedger` for deposits that the chain took back. */
const orphanChecks: Record<string, string> = {
  'entries of an orphaned deposit': `
    with found as (
      select x.vault_id, x.id, x.amount, x.taken, x.returned_at is not null as is_back,
        coalesce(array_agg(e.kind order by e.kind) filter (where e.kind is not null), '{}') as kinds,
        coalesce(bool_and(e.amount = case e.kind when 'orphan' then x.taken else x.amount end and e.token_id = x.token_id
          and coalesce(d.address_id, c.address_id) = x.address_id) filter (where e.kind is not null), true) as fits
      from deposit_orphans x
      left join ledger_entries e on e.vault_id = x.vault_id and e.operation_id = x.id
      left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
      left join ledger_accounts c on c.vault_id = e.vault_id and c.number = e.credit_account
      group by x.vault_id, x.id, x.amount, x.taken, x.returned_at
    )
    select vault_id, format('orphaning %s took %s of %s and has entries %s', id, taken, amount, kinds::text) as detail
    from found
    where not fits or kinds is distinct from
      case when taken > 0 then array['orphan'] else '{}' end || case when is_back then array['orphan_return'] else '{}' end`,
  'orphaned deposit': `
    select o.vault_id, format('deposit %s is %s, orphaned %s, with %s open orphanings', o.id, o.status,
      coalesce(d.orphaned_at::text, 'never'), case when x.id is null then 'no' else '1' end) as detail
    from operations o
    join deposits d on d.vault_id = o.vault_id and d.id = o.id
    left join deposit_orphans x on x.vault_id = o.vault_id and x.deposit_id = o.id and x.returned_at is null
    where o.type = 'deposit' and ((o.status = 'failed') <> (d.orphaned_at is not null)
      or (d.orphaned_at is not null) <> (x.id is not null)
      or (x.id is not null and (x.amount <> o.amount or x.address_id <> o.address_id or x.token_id <> o.token_id)))
    union all
    select x.vault_id, format('orphaning %s is of the deposit %s, which does not exist', x.id, x.deposit_id)
    from deposit_orphans x left join operations o on o.vault_id = x.vault_id and o.id = x.deposit_id and o.type = 'deposit'
    where o.id is null`,
  'cover of an exposure': `
    select k.vault_id, format('cover %s of %s has no entry that fits', k.id, k.amount) as detail
    from exposure_covers k
    left join ledger_entries e on e.vault_id = k.vault_id and e.operation_id = k.id and e.kind = 'cover'
    left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
    where e.sequence is null or e.amount <> k.amount or e.token_id <> k.token_id or d.address_id is distinct from k.address_id`,
  exposure: `
    with changes as (
      select vault_id, address_id, token_id, amount - taken as change from deposit_orphans
      union all
      select vault_id, address_id, token_id, -amount from exposure_covers
    ), sums as (select vault_id, address_id, token_id, sum(change) as exposure from changes group by 1, 2, 3)
    select coalesce(a.vault_id, s.vault_id) as vault_id, format('address %s is exposed by %s of %s, its orphanings and covers say %s',
      coalesce(a.address_id, s.address_id), coalesce(a.exposure, 0), coalesce(a.token_id, s.token_id), coalesce(s.exposure, 0)) as detail
    from (select * from ledger_accounts where purpose = 'available') a
    full join sums s on s.vault_id = a.vault_id and s.address_id = a.address_id and s.token_id = a.token_id
    where coalesce(a.exposure, 0) <> coalesce(s.exposure, 0)
    union all
    select vault_id, format('account %s holds %s and is exposed by %s', id, balance, exposure) from ledger_accounts
    where exposure > 0 and balance > 0`,
}

type LedgerDifference = { kind: string; vaultId: string; detail: string }
type LedgerReport = {
  differences: LedgerDifference[]
  checked: { accounts: number; entries: number; operations: number }
}

/**
 * Recomputes the balances from the entries, independently of the code that writes them, and reports every difference: cached
 * against recomputed balances, totals of vaults, running balances, the entries that the status of each operation requires, and
 * references. Reads one snapshot; reports at most 100 differences of a type.
 *
 * @throws the reason of `signal` when it aborts, before the next check
 */
export async function verifyLedger(
  db: Db,
  vaultId: string | null = null,
  signal: AbortSignal | null = null,
): Promise<LedgerReport> {
  const read = vaultId === null ? sql`` : sql`with ${onlyOf(vaultId)}`
  return readSnapshot(db, async (trx) => {
    const differences: LedgerDifference[] = []
    for (const [kind, query] of Object.entries(checks)) {
      signal?.throwIfAborted()
      const { rows } = await sql<{ vault_id: string; detail: string }>`
        ${read} select * from (${sql.raw(query)}) found order by vault_id, detail limit 100`.execute(trx)
      differences.push(...rows.map((row) => ({ kind, vaultId: row.vault_id, detail: row.detail })))
    }
    const { rows } = await sql<{ accounts: string; entries: string; operations: string }>`
      ${read} select (select count(*) from ledger_accounts) as accounts, (select count(*) from ledger_entries) as entries,
        (select count(*) from operations) as operations`.execute(trx)
    const counts = rows[0]!
    return {
      differences,
      checked: {
        accounts: Number(counts.accounts),
        entries: Number(counts.entries),
        operations: Number(counts.operations),
      },
    }
  })
}

/** The tables of the checks whose rows belong to a vault. */
const tables = [
  ...['ledger_accounts', 'ledger_entries', 'ledger_totals', 'ledger_unsealed', 'operations', 'deposits', 'transfers'],
  ...[
    'deposit_orphans',
    'exposure_covers',
    'adjustments',
    'holds',
    'addresses',
    'transfer_hashes',
    'unconfirmed_transfers',
  ],
] as const

/** SQL: expressions that take the names of the tables, so that the checks after them read the rows of one vault only. */
const onlyOf = (vaultId: string) =>
  sql.join(
    tables.map(
      (name) => sql`${sql.id(name)} as not materialized (
    select * from ${sql.table(name)} where vault_id = ${vaultId})`,
    ),
  )

/** Both sides of every entry, by the number of the account. */
const sides = `sides as (
      select vault_id, sequence, debit_account as number, -amount as delta, debit_balance as balance, created_at
      from ledger_entries where debit_account is not null
      union all
      select vault_id, sequence, credit_account, amount, credit_balance, created_at
      from ledger_entries where credit_account is not null
    )`

/**
 * Every check is a query that returns no rows for a correct ledger. The queries join instead of asking `exists` in a `case`,
 * which PostgreSQL would evaluate row by row with any index of the inner columns.
 */
const checks: Record<string, string> = {
  ...orphanChecks,
  'cached balance': `
    with ${sides}, sums as (select number, sum(delta) as balance from sides group by number)
    select a.vault_id, format('account %s holds %s, its entries sum to %s', a.id, a.balance, coalesce(s.balance, 0)) as detail
    from ledger_accounts a left join sums s using (number)
    where a.balance is not null and a.balance <> coalesce(s.balance, 0)`,
  'running balance': `
    with ${sides}, summed as (
      select *, sum(delta) over (partition by number order by sequence) as expected from sides
    )
    select vault_id, format('entry %s leaves account number %s at %s, recomputed %s', sequence, number, balance, expected) as detail
    from summed where balance is distinct from expected`,
  'time of an entry': `
    with ${sides}, timed as (
      select *, lag(created_at) over (partition by number order by sequence) as previous_at,
        max(created_at) over (partition by number) as newest_at
      from sides
    )
    select t.vault_id,
      format('entry %s of account number %s is of %s, after one of %s', sequence, number, created_at, previous_at) as detail
    from timed t where created_at < previous_at
    union all
    select a.vault_id, format('account %s remembers %s as its last entry, its entries say %s', a.id, a.last_entry_at, n.newest_at)
    from (select distinct number, newest_at from timed) n join ledger_accounts a using (number)
    where a.last_entry_at is distinct from n.newest_at`,
  'total of a vault': `
    with held as (
      select vault_id, token_id, coalesce(sum(balance) filter (where purpose = 'available'), 0) as available,
        coalesce(sum(balance) filter (where purpose = 'reserved'), 0) as reserved
      from ledger_accounts where address_id <> '' group by vault_id, token_id
    ), waiting as (
      select e.* from ledger_unsealed u join ledger_entries e on e.vault_id = u.vault_id and e.sequence = u.sequence
    ), parts as (
      select vault_id, token_id, available, reserved from ledger_totals
      union all
      select a.vault_id, a.token_id, case a.purpose when 'available' then s.delta else 0 end,
        case a.purpose when 'reserved' then s.delta else 0 end
      from (
        select debit_account as number, -amount as delta from waiting union all select credit_account, amount from waiting
      ) s join ledger_accounts a using (number)
    ), kept as (
      select vault_id, token_id, sum(available) as available, sum(reserved) as reserved from parts group by vault_id, token_id
    )
    select vault_id, format('of token %s the accounts hold %s and %s reserved, the totals say %s and %s', token_id,
      h.available, h.reserved, k.available, k.reserved) as detail
    from held h full join kept k using (vault_id, token_id)
    where h.available is distinct from k.available or h.reserved is distinct from k.reserved`,
  'negative balance': `
    select vault_id, format('account %s holds %s', id, balance) as detail from ledger_accounts where balance < 0`,
  'account of an entry': `
    select e.vault_id, format('entry %s (%s) moves between the wrong accounts', e.sequence, e.kind) as detail
    from ledger_entries e
    left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
    left join ledger_accounts c on c.vault_id = e.vault_id and c.number = e.credit_account
    where (e.debit_account is not null and (d.token_id is distinct from e.token_id))
      or (e.credit_account is not null and (c.token_id is distinct from e.token_id))
      or (d.address_id is distinct from c.address_id and d.address_id is not null and c.address_id is not null)
      or case e.kind
        when 'deposit' then d.id is not null or c.purpose is distinct from 'available'
        when 'reserve' then d.purpose is distinct from 'available' or c.purpose is distinct from 'reserved'
        when 'settle' then d.purpose is distinct from 'reserved' or c.id is not null
        when 'release' then d.purpose is distinct from 'reserved' or c.purpose is distinct from 'available'
        when 'fee' then d.purpose is distinct from 'available' or c.id is not null
        when 'hold' then d.purpose is distinct from 'available' or c.purpose is distinct from 'reserved'
        when 'hold_release' then d.purpose is distinct from 'reserved' or c.purpose is distinct from 'available'
        when 'orphan' then d.purpose is distinct from 'available' or c.id is not null
        when 'orphan_return' then d.id is not null or c.purpose is distinct from 'available'
        when 'cover' then d.purpose is distinct from 'available' or c.id is not null
        else (d.id is null) = (c.id is null) or coalesce(d.purpose, c.purpose) <> 'available'
      end`,
  'entries of an operation': `
    with found as (
      select o.vault_id, o.id, o.type, o.status, o.amount, o.address_id, o.token_id,
        array_agg(e.kind order by e.kind) filter (where e.kind not in ('fee', 'correct')) as kinds,
        bool_and((e.kind = 'correct' or e.amount = o.amount - coalesce(x.corrected, 0)) and e.token_id = o.token_id
          and coalesce(d.address_id, c.address_id) = o.address_id) filter (where e.kind <> 'fee') as fits
      from operations o
      left join ledger_entries e on e.vault_id = o.vault_id and e.operation_id = o.id
      left join (
        select vault_id, operation_id, case when debit_account is null then amount else -amount end as corrected
        from ledger_entries where kind = 'correct'
      ) x on x.vault_id = o.vault_id and x.operation_id = o.id
      left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
      left join ledger_accounts c on c.vault_id = e.vault_id and c.number = e.credit_account
      group by o.vault_id, o.id, o.type, o.status, o.amount, o.address_id, o.token_id
    )
    select vault_id, format('%s %s is %s with entries %s', type, id, status, coalesce(kinds::text, 'none')) as detail
    from found
    where fits is not true or kinds is distinct from case
      when type = 'deposit' then array['deposit']
      when status = 'confirmed' then array['reserve', 'settle']
      when status in ('failed', 'rejected', 'cancelled') then array['release', 'reserve']
      else array['reserve'] end`,
  'fee of a transfer': `
    select t.vault_id, format('transfer %s paid %s, its fee entry says %s', t.id, t.fee, e.amount) as detail
    from transfers t left join operations o on o.vault_id = t.vault_id and o.id = t.id
    left join ledger_entries e on e.vault_id = t.vault_id and e.operation_id = t.id and e.kind = 'fee'
    left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
    where (e.sequence is not null and (e.amount <> t.fee or e.amount is distinct from o.fee_amount
        or e.token_id <> t.fee_token_id or t.fee_owed
        or d.address_id <> coalesce(t.fee_address_id, o.address_id)))
      or (e.sequence is null and (o.fee_amount is not null
        or (t.fee > 0 and not t.fee_owed and t.fee_token_id is not null)))`,
  'entry without its operation': `
    select e.vault_id, format('entry %s (%s) refers to %s, which does not exist', e.sequence, e.kind, e.operation_id) as detail
    from ledger_entries e
    left join adjustments a on a.vault_id = e.vault_id and a.id = e.operation_id
    left join operations o on o.vault_id = e.vault_id and o.id = e.operation_id
    left join holds h on h.vault_id = e.vault_id and h.id = e.operation_id
    left join deposit_orphans x on x.vault_id = e.vault_id and x.id = e.operation_id
    left join exposure_covers k on k.vault_id = e.vault_id and k.id = e.operation_id
    where case when e.kind = 'adjust' then a.id is null
      when e.kind in ('hold', 'hold_release') then h.id is null
      when e.kind in ('orphan', 'orphan_return') then x.id is null
      when e.kind = 'cover' then k.id is null
      else o.id is null or (o.type = 'deposit') <> (e.kind in ('deposit', 'correct')) end`,
  'adjustment without its entry': `
    select a.vault_id, format('adjustment %s of %s has no entry that fits', a.id, a.amount) as detail
    from adjustments a
    where not exists (select from ledger_entries e where e.vault_id = a.vault_id and e.operation_id = a.id
      and e.kind = 'adjust' and e.amount = abs(a.amount) and (e.debit_account is null) = (a.amount > 0)
      and e.token_id = a.token_id)`,
  'entries of a hold': `
    with found as (
      select h.vault_id, h.id, h.reserved, h.released_at is not null as is_released,
        coalesce(array_agg(e.kind order by e.kind) filter (where e.kind is not null), '{}') as kinds,
        coalesce(bool_and(e.amount = h.reserved and e.token_id = o.token_id and d.address_id = o.address_id)
          filter (where e.kind is not null), true) as fits
      from holds h
      left join operations o on o.vault_id = h.vault_id and o.id = h.subject_id and h.subject_type = 'deposit'
      left join ledger_entries e on e.vault_id = h.vault_id and e.operation_id = h.id
      left join ledger_accounts d on d.vault_id = e.vault_id and d.number = e.debit_account
      group by h.vault_id, h.id, h.reserved, h.released_at
    )
    select vault_id, format('hold %s reserved %s and has entries %s', id, coalesce(reserved, 0), kinds::text) as detail
    from found
    where not fits or kinds is distinct from case
      when coalesce(reserved, 0) = 0 then '{}'::text[]
      when is_released then array['hold', 'hold_release']
      else array['hold'] end`,
  'operation without its record': `
    select o.vault_id, format('%s %s has no record of its type', o.type, o.id) as detail
    from operations o
    left join deposits d on d.vault_id = o.vault_id and d.id = o.id
    left join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where case when o.type = 'deposit' then d.id is null or d.address_id is distinct from o.address_id
        or d.token_id is distinct from o.token_id
      else t.id is null end`,
  'reference to nothing': `
    select o.vault_id, format('%s %s refers to a vault, address or token that does not exist', o.type, o.id) as detail
    from operations o
    where not exists (select from addresses a where a.vault_id = o.vault_id and a.id = o.address_id)
      or not exists (select from vaults v where v.id = o.vault_id)
      or not exists (select from tokens t where t.id = o.token_id)
    union all
    select l.vault_id, format('account %s refers to an address or token that does not exist', l.id)
    from ledger_accounts l
    where (l.address_id <> '' and not exists (select from addresses a where a.vault_id = l.vault_id and a.id = l.address_id))
      or not exists (select from tokens t where t.id = l.token_id)`,
  // Transfers are found by their hash or status through these rows: a missing row hides a payment from the search for its hash.
  'place of a transfer': `
    select coalesce(o.vault_id, h.vault_id) as vault_id,
      format('hash %s of transfer %s is %s', coalesce(o.tx_hash, h.tx_hash), coalesce(o.id, h.id),
        case when h.id is null then 'not found by the look for hashes' else 'found, and not its hash' end) as detail
    from (select vault_id, tx_hash, created_at, id from operations where type = 'transfer' and tx_hash is not null) o
    full join transfer_hashes h on h.vault_id = o.vault_id and h.tx_hash = o.tx_hash and h.created_at = o.created_at and h.id = o.id
    where o.id is null or h.id is null
    union all
    select coalesce(o.vault_id, u.vault_id), format('transfer %s is %s and %s', coalesce(o.id, u.id), coalesce(o.status, 'confirmed'),
      case when u.id is null then 'not listed' else 'listed as ' || u.status end)
    from (select vault_id, status, created_at, id from operations where type = 'transfer' and status <> 'confirmed') o
    full join unconfirmed_transfers u on u.vault_id = o.vault_id and u.status = o.status and u.created_at = o.created_at and u.id = o.id
    where o.id is null or u.id is null`,
}
