-- Fees that were booked before get the rate that their booking would have taken: one that was fresh then, and that the service knew then.
-- Where there is none, the value stays unknown.
update operations o set fee_amount = e.amount, fee_booked_at = e.created_at, fee_usd_rate = r.usd_rate,
  fee_usd_rate_as_of = r.as_of, fee_usd_rate_source = r.source, fee_usd_value = usd_value_of(e.amount, t.decimals, r.usd_rate)
from ledger_entries e
join tokens t on t.id = e.token_id
left join lateral (
  select x.usd_rate, x.as_of, x.source from token_rates x
  where x.token_id = e.token_id and x.as_of <= e.created_at and x.as_of >= e.created_at - interval '15 minutes'
    and x.created_at <= e.created_at
  order by x.as_of desc limit 1) r on true
where e.kind = 'fee' and o.vault_id = e.vault_id and o.id = e.operation_id and o.fee_booked_at is null;
