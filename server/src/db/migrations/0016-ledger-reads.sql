-- Statements and past balances in one range each, and an index of entries whose pages fill up.

-- The time of the newest entry of an account, null for vault-level accounts: the clocks of several nodes may disagree, the
-- entries of an account may not run backwards.
alter table ledger_accounts add column last_entry_at timestamptz(3);
update ledger_accounts a set last_entry_at = (
  select max(e.created_at) from ledger_entries e where a.number in (e.debit_account, e.credit_account)
) where a.address_id <> '';

-- One sequence counts the entries of all vaults, so that every entry is appended: by vault, the pages of this index would
-- stay half empty, and the vault would be half of it.
alter table ledger_entries drop constraint ledger_entries_pkey;
alter table ledger_entries add primary key (sequence);

-- Within an account the time never runs backwards, so this is the order of the sequence too: a statement, its bounds and
-- the balance at a time are each one range.
drop index ledger_entries_debit;
drop index ledger_entries_credit;
create index ledger_entries_debit on ledger_entries (debit_account, created_at, sequence) where debit_account is not null;
create index ledger_entries_credit on ledger_entries (credit_account, created_at, sequence) where credit_account is not null;
