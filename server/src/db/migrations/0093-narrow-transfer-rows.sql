-- No index of operations has a column that changes, so that PostgreSQL changes a row in its place: a transfer wrote eleven entries of
-- indexes each time that its status or its hash changed. What transfers are looked up by stands in narrow rows, which a trigger keeps.
-- They say where to look; the row of the operation says what is true.
create table transfer_hashes (
  vault_id text not null,
  tx_hash text not null,
  created_at timestamptz(3) not null,
  id text not null,
  primary key (vault_id, tx_hash, created_at, id)
);
-- Transfers that are not confirmed.
create table unconfirmed_transfers (
  vault_id text not null,
  status text not null,
  created_at timestamptz(3) not null,
  id text not null,
  primary key (vault_id, status, created_at, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create function place_transfer() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.tx_hash is not null and new.tx_hash is distinct from old.tx_hash then
    delete from transfer_hashes
      where vault_id = old.vault_id and tx_hash = old.tx_hash and created_at = old.created_at and id = old.id;
  end if;
  if new.tx_hash is not null and (tg_op = 'INSERT' or new.tx_hash is distinct from old.tx_hash) then
    insert into transfer_hashes (vault_id, tx_hash, created_at, id) values (new.vault_id, new.tx_hash, new.created_at, new.id);
  end if;
  if tg_op = 'UPDATE' and old.status <> 'confirmed' and new.status <> old.status then
    delete from unconfirmed_transfers
      where vault_id = old.vault_id and status = old.status and created_at = old.created_at and id = old.id;
  end if;
  if new.status <> 'confirmed' and (tg_op = 'INSERT' or new.status <> old.status) then
    insert into unconfirmed_transfers (vault_id, status, created_at, id) values (new.vault_id, new.status, new.created_at, new.id);
  end if;
  return null;
end $$;
create trigger operations_place_inserted after insert on operations
  for each row when (new.type = 'transfer') execute function place_transfer();
create trigger operations_place_updated after update on operations
  for each row when (new.type = 'transfer' and (new.status, new.tx_hash) is distinct from (old.status, old.tx_hash))
  execute function place_transfer();

insert into transfer_hashes (vault_id, tx_hash, created_at, id)
  select vault_id, tx_hash, created_at, id from operations where type = 'transfer' and tx_hash is not null;
insert into unconfirmed_transfers (vault_id, status, created_at, id)
  select vault_id, status, created_at, id from operations where type = 'transfer' and status <> 'confirmed';

drop index operations_status_feed, operations_hash_feed;
-- The hash of a deposit never changes.
create index deposits_hash_feed on deposits (vault_id, tx_hash, created_at desc, id desc);
alter table operations set (fillfactor = 75);
