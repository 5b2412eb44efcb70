-- The network fee that the ledger has of a transfer, in the smallest unit of the coin of its network, and its value at the rate of the
-- moment at which it was booked. Without a rate that was fresh then it has no value. Reports sum both in their pass over operations.
alter table operations
  add column fee_amount numeric(78, 0),
  add column fee_booked_at timestamptz(3),
  add column fee_usd_rate numeric(38, 18),
  add column fee_usd_rate_as_of timestamptz(3),
  add column fee_usd_rate_source text,
  add column fee_usd_value numeric(78, 2);

-- A fee is booked once. Nothing changes or removes it, or gives it another value.
create function keep_operation_fee() returns trigger language plpgsql as $$
begin
  raise exception 'The fee of operation % is booked once and cannot be changed', old.id using errcode = 'check_violation';
end $$;
create trigger operations_keep_fee
  before update of fee_amount, fee_booked_at, fee_usd_rate, fee_usd_rate_as_of, fee_usd_rate_source, fee_usd_value on operations
  for each row when (old.fee_booked_at is not null) execute function keep_operation_fee();

-- USD with two decimals, rounded half to even, as the service values amounts.
create function usd_value_of(raw numeric, decimals integer, usd_rate numeric) returns numeric language sql immutable parallel safe
return (
  select (trunc(cents) + case when cents % 1 > 0.5 or (cents % 1 = 0.5 and trunc(cents) % 2 = 1) then 1 else 0 end) * 0.01
  from (select raw * usd_rate * ('1e' || (2 - decimals))::numeric) exact (cents));

-- The operation has what the entry says, whoever wrote the entry: nodes of the version before do not write these columns.
create function note_booked_fee() returns trigger language plpgsql as $$
begin
  if exists (
    select from operations where vault_id = new.vault_id and id = new.operation_id and fee_booked_at is null
  ) then
    update operations o set fee_amount = new.amount, fee_booked_at = new.created_at, fee_usd_rate = r.usd_rate,
      fee_usd_rate_as_of = r.as_of, fee_usd_rate_source = r.source, fee_usd_value = usd_value_of(new.amount, t.decimals, r.usd_rate)
    from tokens t left join lateral (
      select x.usd_rate, x.as_of, x.source from token_rates x
      where x.token_id = t.id and x.as_of <= new.created_at and x.as_of >= new.created_at - interval '15 minutes'
      order by x.as_of desc limit 1) r on true
    where t.id = new.token_id and o.vault_id = new.vault_id and o.id = new.operation_id;
  end if;
  return null;
end $$;
create trigger ledger_entries_note_fee after insert on ledger_entries
  for each row when (new.kind = 'fee') execute function note_booked_fee();
