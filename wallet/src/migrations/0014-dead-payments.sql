-- The final transaction that made all transactions of a transfer impossible: it spent one of the outputs that they spend, or it was mined
-- in place of the transaction that has such an output. Null when none is seen.
create function wallet.rival_of(of_client uuid, of_id text) returns text language sql stable as $$
  with recursive needed as (
    select i.client_id, i.id, c.tx_hash, c.client_id as owner, c.change_of, c.spent_by from wallet.transaction_inputs i
    join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
    where i.client_id = of_client and i.id = of_id and i.number = 0
    union
    select i.client_id, i.id, c.tx_hash, c.client_id, c.change_of, c.spent_by from needed n
    join wallet.transactions v on v.tx_hash = n.tx_hash
    join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
    join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
  )
  select rival from (
    select n.spent_by as rival from needed n
    where not exists (
      select from wallet.transactions v where v.client_id = n.client_id and v.id = n.id and v.tx_hash = n.spent_by)
    union all
    select t.tx_hash from needed n join wallet.transfers t on t.client_id = n.owner and t.id = n.change_of
    where t.status in ('confirmed', 'failed') and t.tx_hash <> n.tx_hash
      and not exists (select from wallet.transactions k where k.tx_hash = n.tx_hash and k.kind = 'child')
  ) r where rival is not null limit 1
$$;

-- An output is taken by one transfer, and given back only when that transfer has ended with another transaction, or can never be mined.
create or replace function wallet.refuse_second_taking() returns trigger language plpgsql as $$
begin
  if old.taken_by is null or new.taken_by is not distinct from old.taken_by then
    return new;
  end if;
  if new.taken_by is not null then
    raise exception 'output %:% is taken by transfer % already', old.tx_hash, old.index, old.taken_by;
  end if;
  if exists (select from wallet.transfers t where t.client_id = old.client_id and t.id = old.taken_by and t.status in ('queued', 'broadcast'))
    and wallet.rival_of(old.client_id, old.taken_by) is null
  then
    raise exception 'output %:% is taken by transfer %, which has not ended', old.tx_hash, old.index, old.taken_by;
  end if;
  return new;
end $$;
