import { type RawBuilder, sql } from 'kysely'
import type { AddressScope } from '../../../access/address-scope.ts'
import { reservedKinds } from './postings.ts'

/**
 * SQL: the changes that the entries of `taken` (vault_id, sequence) made to the totals of their vaults, with one row per vault
 * and token. The lookup of each entry is by its key, however many rows the planner expects.
 */
const changeOfTotals = (taken: RawBuilder<unknown>) => sql`
  select vault_id, token_id,
    sum(case when is_debit and kind <> all(${reservedKinds.debit}::text[]) then -amount else 0 end
      + case when is_credit and kind <> all(${reservedKinds.credit}::text[]) then amount else 0 end) as available,
    sum(case when kind = any(${reservedKinds.debit}::text[]) then -amount else 0 end
      + case when kind = any(${reservedKinds.credit}::text[]) then amount else 0 end) as reserved
  from (
    select u.vault_id, e.token_id, e.kind, e.debit_account is not null as is_debit,
      e.credit_account is not null as is_credit, sum(e.amount) as amount
    from ${taken} u
    cross join lateral (
      select * from ledger_entries l where l.sequence = u.sequence and l.vault_id = u.vault_id limit 1
    ) e
    group by 1, 2, 3, 4, 5
  ) moved group by vault_id, token_id`

/** SQL: a statement that adds the entries of `taken` (vault_id, sequence), which no longer wait for a seal, to the totals. */
export const addToTotals = (taken: RawBuilder<unknown>) => sql`
  insert into ledger_totals as t (vault_id, token_id, available, reserved)
  select * from (${changeOfTotals(taken)}) c order by vault_id, token_id
  on conflict (vault_id, token_id) do update
    set available = t.available + excluded.available, reserved = t.reserved + excluded.reserved`

/**
 * SQL: available, reserved and exposure of each token over all addresses of a vault, for a scope that covers the whole vault.
 * It reads only the tokens and the entries that wait for a seal, however many accounts there are.
 */
export const totalsOfVault = ({ vaultId }: AddressScope) => sql`
  select token_id, sum(available) as available, sum(reserved) as reserved, sum(exposure) as exposure from (
    select token_id, available, reserved, 0 as exposure from ledger_totals where vault_id = ${vaultId}
    union all
    select token_id, available, reserved, 0
    from (${changeOfTotals(sql`(select * from ledger_unsealed where vault_id = ${vaultId})`)}) waiting
    union all
    select token_id, 0, 0, exposure from ledger_accounts where vault_id = ${vaultId} and exposure > 0
  ) parts group by token_id`
