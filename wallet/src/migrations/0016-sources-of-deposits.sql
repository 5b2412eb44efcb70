-- What the transactions of watched deposits spent: when the chain loses a deposit, the final transaction that spent the same took its place.
create table wallet.deposit_sources (
  network      text not null,
  deposit_hash text not null,
  tx_hash      text not null,
  index        integer not null check (index >= 0),
  block_number bigint not null,
  -- The final transaction that spent it: that of the deposit, or another one after a reorganisation.
  spent_by     text,
  spent_block  bigint,
  primary key (network, deposit_hash, tx_hash, index),
  check ((spent_by is null) = (spent_block is null))
);
create index deposit_sources_spent on wallet.deposit_sources (network, tx_hash, index);
create index deposit_sources_watched on wallet.deposit_sources (network, block_number);

-- The final transaction that made all transactions of a transfer impossible: it spent one of the outputs that they spend, or it was mined
-- in place of the transaction that has such an output, which is one of a transfer or one of a deposit. Null when none is seen.
create or replace function wallet.rival_of(of_client uuid, of_id text) returns text language sql stable as $$
  with recursive needed as (
    select i.client_id, i.id, c.network, c.tx_hash, c.client_id as owner, c.change_of, c.spent_by from wallet.transaction_inputs i
    join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
    where i.client_id = of_client and i.id = of_id and i.number = 0
    union
    select i.client_id, i.id, c.network, c.tx_hash, c.client_id, c.change_of, c.spent_by from needed n
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
    union all
    select s.spent_by from needed n join wallet.deposit_sources s on s.network = n.network and s.deposit_hash = n.tx_hash
    where s.spent_by <> n.tx_hash
  ) r where rival is not null limit 1
$$;
