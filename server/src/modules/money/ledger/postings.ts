import { sql } from 'kysely'
import { prepared, type Trx } from '../../../db/client.ts'
import { wake } from '../../../db/commits.ts'
import {
  assertChanged,
  type Changed,
  changedBy,
  insertRows,
  namedParts,
  type Part,
  runParts,
} from '../../../db/insert-rows.ts'
import { sqlStateOf, violates } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'

/** Accounts of an address that hold a balance; the vault-level ones (external, adjustment) are the other side. */
type AddressPurpose = 'available' | 'reserved'

/** The accounts of each type of entry: the one that decreases and the one that increases; null for the vault-level account. */
const sides = {
  deposit: { debit: null, credit: 'available' },
  /**
   * Entries of a transfer: reserved at its creation; settled when confirmed; released when it has failed, expired, or was
   * rejected or cancelled.
   */
  reserve: { debit: 'available', credit: 'reserved' },
  settle: { debit: 'reserved', credit: null },
  release: { debit: 'reserved', credit: 'available' },
  /** A network fee that the address paid, in the native coin. */
  fee: { debit: 'available', credit: null },
  adjust: { debit: null, credit: 'available' },
  /** A hold reserves the available part of a deposit, and its release returns it. The operation is the hold. */
  hold: { debit: 'available', credit: 'reserved' },
  hold_release: { debit: 'reserved', credit: 'available' },
  /** A correction of a deposit whose credited amount differs from the chain. */
  correct: { debit: null, credit: 'available' },
  /** Takes back the available part of a deposit that the chain lost; `orphan_return` credits the whole deposit that came back. */
  orphan: { debit: 'available', credit: null },
  orphan_return: { debit: null, credit: 'available' },
  /** Covers an exposure with funds that became available. */
  cover: { debit: 'available', credit: null },
} as const satisfies Record<string, { debit: AddressPurpose | null; credit: AddressPurpose | null }>

export type EntryKind = keyof typeof sides
export const entryKinds = Object.keys(sides) as EntryKind[]
/** The types of entries that decrease the reserved balance, and those that increase it; all others concern the available balance. */
export const reservedKinds = {
  debit: entryKinds.filter((kind) => sides[kind].debit === 'reserved'),
  credit: entryKinds.filter((kind) => sides[kind].credit === 'reserved'),
}

type Subject = {
  vaultId: string
  tokenId: string
  addressId: string
  /** The operation, adjustment, hold, orphaning or cover of the entry, which has at most one entry of each type. */
  operationId: string
  amount: bigint
}

/**
 * One movement of `amount` (raw smallest units, above 0) between two accounts of the same vault and token. A null side
 * is the vault-level account: `adjustment` for the kind adjust, else `external`. Every posting sums to zero by construction.
 */
export type Posting = Subject & { kind: EntryKind; debit: AddressPurpose | null; credit: AddressPurpose | null }

export function posting(kind: EntryKind, subject: Subject): Posting {
  if (subject.amount <= 0n) throw new RangeError(`A posting moves more than 0, not ${subject.amount}`)
  return { ...subject, kind, ...sides[kind] }
}

/** Returns the posting that changes a balance by a signed amount: a negative amount moves back. */
export function signedPosting(kind: 'adjust' | 'correct', subject: Subject): Posting {
  if (subject.amount > 0n) return posting(kind, subject)
  const { debit, credit, ...moved } = posting(kind, { ...subject, amount: -subject.amount })
  return { ...moved, debit: credit, credit: debit }
}

/**
 * Writes entries and moves the cached balances, in one statement for any number of postings. Accounts are locked in sorted
 * order and created at their first use. The time of an entry is `now`, or that of an earlier entry of its accounts when the
 * clock of another node was ahead: within an account time never decreases. Funds that become available at an exposed address
 * cover its exposure first.
 *
 * @param parts further statements that run as parts of the same one, such as the insert of the operation
 * @throws SQLSTATE 23514 when a balance would fall below zero (nothing is written); 23505 when an operation already has an
 * entry of that type, so that every effect happens once; an error that `isOverflow` recognises when a balance would exceed the
 * maximum; as `runParts`
 */
export async function postEntries(trx: Trx, postings: Posting[], now: Date, parts: Part[] = []): Promise<void> {
  if (postings.length === 0) return runParts(trx, parts)
  wake(trx, 'seal-ledger')
  const { rows } = await sql<Changed & { exposed: Exposed[] }>`${prepared}
    with ${parts.length === 0 ? sql`` : sql`${namedParts(parts)},`} ${input(postings, now)}, ${balances(now)}, ${entries(now)}
    select ${changedBy(parts)} as changed, (
      select coalesce(json_agg(json_build_object('vaultId', vault_id, 'tokenId', token_id, 'addressId', address_id,
        'available', balance::text, 'exposure', exposure::text) order by vault_id, address_id, token_id), '[]')
      from accounts where exposure > 0 and balance > 0 and purpose = 'available') as exposed`.execute(trx)
  const { exposed } = assertChanged(parts, rows[0]!)
  if (exposed.length > 0) await postEntries(trx, await coverExposures(trx, exposed, now), now)
}

/** SQL: the postings, and the change of each account. */
function input(postings: Posting[], now: Date) {
  const column = <T>(read: (posting: Posting) => T) => postings.map(read)
  return sql`
    input as (
      select * from unnest(
        ${column((p) => p.vaultId)}::text[], ${column((p) => p.tokenId)}::text[], ${column((p) => p.addressId)}::text[],
        ${column((p) => p.kind)}::text[], ${column((p) => p.operationId)}::text[],
        ${column((p) => p.amount.toString())}::numeric[], ${column((p) => p.debit)}::text[],
        ${column((p) => p.credit)}::text[], ${column(() => newId(now))}::text[], ${column(() => newId(now))}::text[],
        ${column(() => newId(now))}::text[]
      ) with ordinality as
        t(vault_id, token_id, address_id, kind, operation_id, amount, debit, credit, debit_id, credit_id, vault_level_id, n)
    ),
    sides as (
      select n, vault_id, token_id, address_id, debit as purpose, -amount as delta, debit_id as id
      from input where debit is not null
      union all
      select n, vault_id, token_id, address_id, credit, amount, credit_id from input where credit is not null
    ),
    totals as materialized (
      select vault_id, token_id, address_id, purpose, sum(delta) as delta, min(id) as id
      from sides group by vault_id, token_id, address_id, purpose
    )`
}

/** SQL: the accounts with their new balances, and the balance after each posting. */
const balances = (now: Date) => sql`
  locked as materialized (
    -- An entry with two sides has one time, so what the accounts remember is compared before either is changed.
    select a.last_entry_at from ledger_accounts a join totals t using (vault_id, address_id, token_id, purpose)
    where exists (select from input where debit is not null and credit is not null)
    order by a.vault_id, a.address_id, a.token_id, a.purpose for update of a
  ),
  moment as materialized (select greatest(${now}::timestamptz, max(last_entry_at)) as at from locked),
  accounts as (
    -- A check is tested on the row that an upsert proposes, so a debit proposes 0 and takes its delta in the update.
    insert into ledger_accounts as a (vault_id, id, token_id, address_id, purpose, balance, last_entry_at, created_at)
    select vault_id, id, token_id, address_id, purpose, greatest(delta, 0), moment.at, ${now}::timestamptz
    from totals, moment order by vault_id, address_id, token_id, purpose
    on conflict (vault_id, address_id, token_id, purpose) do update
      set balance = a.balance + case when excluded.balance > 0 then excluded.balance else (
        select t.delta from totals t
        where t.vault_id = excluded.vault_id and t.address_id = excluded.address_id
          and t.token_id = excluded.token_id and t.purpose = excluded.purpose) end,
        last_entry_at = greatest(a.last_entry_at, excluded.last_entry_at)
    returning a.vault_id, a.token_id, a.address_id, a.purpose, a.number, a.balance, a.exposure, a.last_entry_at,
      a.xmax = 0 as is_new
  ),
  running as (
    -- The balance after each posting: the final one less what the later postings of this statement moved.
    select s.n, s.purpose, s.delta, a.number, a.last_entry_at as at,
      case when a.is_new and t.delta < 0 then t.delta else a.balance end
        - coalesce(sum(s.delta) over (
            partition by a.number order by s.n rows between 1 following and unbounded following), 0) as balance
    from sides s
    join totals t using (vault_id, token_id, address_id, purpose)
    join accounts a using (vault_id, token_id, address_id, purpose)
  )`

/** SQL: the entries, and the accounts of the vault that they need. */
const entries = (now: Date) => sql`
  vault_level as (
    insert into ledger_accounts (vault_id, id, token_id, address_id, purpose, balance, created_at)
    select distinct on (vault_id, token_id, purpose)
      vault_id, vault_level_id, token_id, '', purpose, null::numeric, ${now}::timestamptz
    from (
      select *, case kind when 'adjust' then 'adjustment' else 'external' end as purpose
      from input where debit is null or credit is null
    ) i
    where not exists (
      select from ledger_accounts e
      where e.vault_id = i.vault_id and e.address_id = '' and e.token_id = i.token_id and e.purpose = i.purpose)
    on conflict do nothing
  ),
  entries as (
    insert into ledger_entries
      (vault_id, kind, token_id, operation_id, debit_account, credit_account, amount, debit_balance, credit_balance, created_at)
    select i.vault_id, i.kind, i.token_id, i.operation_id, d.number, c.number, i.amount, d.balance, c.balance,
      greatest(d.at, c.at)
    from input i
    left join running d on d.n = i.n and d.delta < 0
    left join running c on c.n = i.n and c.delta > 0
    order by i.n
    returning vault_id, sequence
  ),
  unsealed as (
    insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, ${now} from entries
  )`

/**
 * Returns true if the postings would make an account hold more than 2^256-1. The column can store a few times as much, which
 * the postings of one statement may together exceed.
 */
export function isOverflow(error: unknown): boolean {
  return violates(error, 'ledger_entries_credit_max') || sqlStateOf(error) === numericOverflow
}

const numericOverflow = '22003'

type Account = { vaultId: string; addressId: string; tokenId: string }
/** An account with available funds whose address is exposed; in raw units, under lock. */
type Exposed = Account & { available: string; exposure: string }

/** Reduces exposures by the available funds, and records it. Returns the postings that take the funds, which the caller writes. */
async function coverExposures(trx: Trx, accounts: Exposed[], now: Date): Promise<Posting[]> {
  const covers = accounts.map(({ available, exposure, ...account }) => {
    const amount = BigInt(available) < BigInt(exposure) ? BigInt(available) : BigInt(exposure)
    return { ...account, id: newId(now), amount }
  })
  await insertRows(trx, {
    exposure_covers: covers.map(({ vaultId, id, addressId, tokenId, amount }) => ({
      vault_id: vaultId,
      id,
      address_id: addressId,
      token_id: tokenId,
      amount: amount.toString(),
      created_at: now,
    })),
  })
  for (const { amount, ...account } of covers) await changeExposure(trx, account, -amount)
  return covers.map(({ id, ...account }) => posting('cover', { ...account, operationId: id }))
}

/** Changes the exposure of an account that exists. */
export async function changeExposure(
  trx: Trx,
  { vaultId, addressId, tokenId }: Account,
  difference: bigint,
): Promise<void> {
  await sql`
    update ledger_accounts set exposure = exposure + ${difference.toString()}::numeric
    where vault_id = ${vaultId} and address_id = ${addressId} and token_id = ${tokenId} and purpose = 'available'`.execute(
    trx,
  )
}
