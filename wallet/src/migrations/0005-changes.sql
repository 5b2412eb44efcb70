-- Changes of the state of transfers in the order in which they were committed: of each transfer the last one. The number is taken at
-- the end of a transaction under a lock that is held until it is committed, so that whoever has read a number misses no smaller one.
create sequence wallet.change_numbers;
create table wallet.changes (
  client_id uuid not null,
  id        text not null,
  number    bigint not null unique,
  primary key (client_id, id),
  foreign key (client_id, id) references wallet.transfers (client_id, id) on delete cascade
);
create unique index changes_in_order on wallet.changes (client_id, number);

-- The times for which PostgreSQL ran on this database without a break, and the last change before each. A database that was restored
-- has lost changes, and begins another time with a smaller number than was read in the time before.
create table wallet.epochs (
  number      integer generated always as identity primary key,
  mark        text not null unique,
  began_after bigint not null
);

-- The mark of the present time, which begins with its first change or question.
create function wallet.present_epoch() returns text language plpgsql as $$
declare
  present constant text := md5(extract(epoch from pg_postmaster_start_time())::text || ' ' || 'wallet.epochs'::regclass::oid::text);
begin
  if not exists (select from wallet.epochs where mark = present) then
    perform pg_advisory_xact_lock(7522537965568);
    insert into wallet.epochs (mark, began_after)
      select present, coalesce(max(number), 0) from wallet.changes
      where not exists (select from wallet.epochs where mark = present);
  end if;
  return present;
end $$;

create function wallet.number_change() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7522537965568);
  perform wallet.present_epoch();
  insert into wallet.changes (client_id, id, number) values (new.client_id, new.id, nextval('wallet.change_numbers'))
    on conflict (client_id, id) do update set number = excluded.number;
  perform pg_notify('wallet_changes', new.client_id::text);
  return null;
end $$;
create constraint trigger transfers_ordered after insert on wallet.transfers
  deferrable initially deferred for each row execute function wallet.number_change();
create constraint trigger transfers_changed after update on wallet.transfers
  deferrable initially deferred for each row
  when (old.status is distinct from new.status or old.tx_hash is distinct from new.tx_hash)
  execute function wallet.number_change();
