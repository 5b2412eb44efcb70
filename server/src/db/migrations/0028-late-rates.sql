-- When an operation that had no rate at its creation got one. Velocity limits count such an operation as one without a
-- rate for good: what was in doubt when it was ordered is not permitted by a rate that somebody recorded since.
alter table operations add column usd_rate_added_at timestamptz(3);

-- A rate is written once: at the creation of the operation, or marked as added later. Nothing changes or removes it.
create function keep_operation_rate() returns trigger language plpgsql as $$
begin
  raise exception 'The rate of operation % cannot be changed, only added once', old.id using errcode = 'check_violation';
end $$;
create trigger operations_keep_rate
  before update of usd_rate, usd_rate_as_of, usd_rate_source, usd_value, usd_rate_added_at on operations
  for each row when (old.usd_rate is not null or new.usd_rate is null or new.usd_rate_added_at is null)
  execute function keep_operation_rate();
