-- Deposits that the chain no longer has: what was credited is taken back, as far as it is available, and the rest is an
-- exposure of the address, which sends nothing until that is covered.

-- The newest thing that is known of a deposit: how often it came back, and since when it is gone. One that was gone before it
-- was ever credited has no operation.
alter table deposits add column occurrence integer not null default 0 check (occurrence >= 0);
alter table deposits add column orphaned_at timestamptz(3);

-- Each time that a credited deposit was taken back. `taken` was available; the rest of the amount became exposure.
create table deposit_orphans (
  vault_id text not null,
  id text not null,
  deposit_id text not null,
  address_id text not null,
  token_id text not null,
  occurrence integer not null,
  amount numeric(78, 0) not null check (amount > 0),
  taken numeric(78, 0) not null check (taken between 0 and amount),
  created_at timestamptz(3) not null,
  returned_at timestamptz(3),
  primary key (vault_id, id)
);
create index deposit_orphans_account on deposit_orphans (vault_id, address_id, token_id);
create unique index deposit_orphans_open on deposit_orphans (vault_id, deposit_id) where returned_at is null;

-- Each time that something which became available covered an exposure.
create table exposure_covers (
  vault_id text not null,
  id text not null,
  address_id text not null,
  token_id text not null,
  amount numeric(78, 0) not null check (amount > 0),
  created_at timestamptz(3) not null,
  primary key (vault_id, id)
);

-- What the books owe the chain: less arrived than was spent. The balance of the account less this is what the chain has.
alter table ledger_accounts add column exposure numeric(78, 0) not null default 0;
alter table ledger_accounts add constraint ledger_accounts_exposure
  check (exposure = 0 or (exposure > 0 and purpose = 'available')) not valid;
-- What every order, vote and hand-over asks: small, because an exposure is an exception.
create index ledger_accounts_exposed on ledger_accounts (vault_id, address_id) where exposure > 0;

-- A deposit that the chain no longer has is no longer confirmed.
alter table operations drop constraint operations_check;
alter table operations add constraint operations_deposit_status
  check (type = 'transfer' or status in ('confirmed', 'failed')) not valid;

alter table wallet_events drop constraint wallet_events_outcome_check;
alter table wallet_events add constraint wallet_events_outcome_check
  check (outcome in ('credited', 'duplicate', 'ignored', 'unmatched', 'quarantined', 'dismissed', 'orphaned')) not valid;

-- `orphan`: available → external, and `orphan_return` back; the operation is the row of deposit_orphans. `cover`: available →
-- external, for what had been orphaned when it was not available; the operation is the row of exposure_covers.
alter table ledger_entries drop constraint ledger_entries_kind_check;
alter table ledger_entries add constraint ledger_entries_kind_check
  check (kind in ('deposit', 'reserve', 'settle', 'release', 'fee', 'adjust', 'hold', 'hold_release', 'correct', 'orphan',
    'orphan_return', 'cover')) not valid;
alter table ledger_entries drop constraint ledger_entries_sides_of_kind;
alter table ledger_entries add constraint ledger_entries_sides_of_kind check (
  case kind
    when 'deposit' then debit_account is null and credit_account is not null
    when 'orphan_return' then debit_account is null and credit_account is not null
    when 'settle' then debit_account is not null and credit_account is null
    when 'fee' then debit_account is not null and credit_account is null
    when 'orphan' then debit_account is not null and credit_account is null
    when 'cover' then debit_account is not null and credit_account is null
    when 'adjust' then (debit_account is null) <> (credit_account is null)
    when 'correct' then (debit_account is null) <> (credit_account is null)
    else debit_account is not null and credit_account is not null
  end
) not valid;

alter table notifications drop constraint notifications_subject_type_check;
alter table notifications add constraint notifications_subject_type_check
  check (subject_type in ('transfer', 'approval_request', 'audit_record', 'payout', 'deposit'));
alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed', 'stopped', 'stuck', 'quorum_lost', 'orphaned'));
