-- Quarantined events are decided by two people: credited, which corrects a deposit by the difference, or dismissed.

alter table wallet_events drop constraint wallet_events_outcome_check;
alter table wallet_events add constraint wallet_events_outcome_check
  check (outcome in ('credited', 'duplicate', 'ignored', 'unmatched', 'quarantined', 'dismissed'));

-- `correct`: external → available of the deposit's address, or back. The operation is the deposit.
alter table ledger_entries drop constraint ledger_entries_kind_check;
alter table ledger_entries add constraint ledger_entries_kind_check
  check (kind in ('deposit', 'reserve', 'settle', 'release', 'fee', 'adjust', 'hold', 'hold_release', 'correct'));
alter table ledger_entries drop constraint ledger_entries_sides_of_kind;
alter table ledger_entries add constraint ledger_entries_sides_of_kind check (
  case kind
    when 'deposit' then debit_account is null and credit_account is not null
    when 'settle' then debit_account is not null and credit_account is null
    when 'fee' then debit_account is not null and credit_account is null
    when 'adjust' then (debit_account is null) <> (credit_account is null)
    when 'correct' then (debit_account is null) <> (credit_account is null)
    else debit_account is not null and credit_account is not null
  end
);

-- A rate is still written once. The value of a deposit follows its amount, which only a correction changes.
drop trigger operations_keep_rate on operations;
create trigger operations_keep_rate
  before update of usd_rate, usd_rate_as_of, usd_rate_source, usd_value, usd_rate_added_at on operations
  for each row when (
    (old.usd_rate is not null or new.usd_rate is null or new.usd_rate_added_at is null)
    and not (old.type = 'deposit' and new.amount <> old.amount
      and (new.usd_rate, new.usd_rate_as_of, new.usd_rate_source, new.usd_rate_added_at)
        is not distinct from (old.usd_rate, old.usd_rate_as_of, old.usd_rate_source, old.usd_rate_added_at)))
  execute function keep_operation_rate();
