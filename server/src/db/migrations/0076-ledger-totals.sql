-- The totals of a vault over all its addresses, up to the entries that wait for their seal. Sealing adds the entries that it
-- takes, in its own transaction, so that at every commit this table and the waiting entries are the sum of the accounts.
-- No posting touches a row of it.

create table ledger_totals (
  vault_id text not null,
  token_id text not null,
  -- Sums of any number of accounts, and entries are sealed in any order: neither digits nor sign are bounded.
  available numeric not null,
  reserved numeric not null,
  primary key (vault_id, token_id)
) with (fillfactor = 50);

insert into ledger_totals (vault_id, token_id, available, reserved)
select vault_id, token_id, sum(balance) filter (where purpose = 'available'), sum(balance) filter (where purpose = 'reserved')
from (
  select vault_id, token_id, purpose, balance from ledger_accounts where address_id <> ''
  union all
  -- No balance, but a row for each token: only one of the purposes may have an account.
  select distinct vault_id, token_id, unnest(array['available', 'reserved']), 0::numeric from ledger_accounts where address_id <> ''
  union all
  select u.vault_id, a.token_id, a.purpose, case when a.number = e.debit_account then e.amount else -e.amount end
  from ledger_unsealed u
  join ledger_entries e on e.vault_id = u.vault_id and e.sequence = u.sequence
  join ledger_accounts a on a.vault_id = e.vault_id and a.token_id = e.token_id and a.number in (e.debit_account, e.credit_account)
) moved
group by vault_id, token_id;
