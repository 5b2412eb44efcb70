-- No index of `transfers` has a column that changes after the signature, so that PostgreSQL changes a row in its place. What the wallet
-- looks for stands in narrow rows, which triggers keep: they say where to look, and the row of the transfer says what is true.
alter table wallet.transfers set (fillfactor = 70);

-- What is queued or sent again. `due_at` is when it is looked at next; a claim, which counts an attempt, does not move it.
create table wallet.to_send (
  network   text not null,
  sequence  bigint not null,
  client_id uuid not null,
  id        text not null,
  due_at    timestamptz(3) not null,
  primary key (network, sequence)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create function wallet.place_to_send() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into wallet.to_send (network, sequence, client_id, id, due_at)
      values (new.network, new.sequence, new.client_id, new.id, new.next_attempt_at);
  elsif tg_op = 'UPDATE' and (new.status = 'queued' or new.resend) then
    insert into wallet.to_send (network, sequence, client_id, id, due_at)
      values (new.network, new.sequence, new.client_id, new.id, new.next_attempt_at)
      on conflict (network, sequence) do update set due_at = excluded.due_at;
  else
    delete from wallet.to_send where network = old.network and sequence = old.sequence;
  end if;
  return null;
end $$;
create trigger to_send_added after insert on wallet.transfers
  for each row when (new.status = 'queued' or new.resend) execute function wallet.place_to_send();
create trigger to_send_moved after update on wallet.transfers
  for each row when (
    (old.status = 'queued' or old.resend) is distinct from (new.status = 'queued' or new.resend)
    or ((new.status = 'queued' or new.resend) and new.next_attempt_at is distinct from old.next_attempt_at and new.attempts <= old.attempts)
  ) execute function wallet.place_to_send();
create trigger to_send_removed after delete on wallet.transfers
  for each row when (old.status = 'queued' or old.resend) execute function wallet.place_to_send();

-- What was signed and has not ended, with the block that has it.
create table wallet.in_flight (
  network      text not null,
  from_address text not null,
  nonce        bigint not null,
  sequence     bigint not null,
  client_id    uuid not null,
  id           text not null,
  block_number bigint,
  primary key (network, from_address, nonce)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create function wallet.place_in_flight() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    if tg_op = 'UPDATE' and new.nonce is not distinct from old.nonce and new.status in ('queued', 'broadcast') then
      update wallet.in_flight set block_number = new.block_number
        where network = new.network and from_address = new.from_address and nonce = new.nonce;
      if found then
        return null;
      end if;
    else
      delete from wallet.in_flight where network = old.network and from_address = old.from_address and nonce = old.nonce;
    end if;
  end if;
  if tg_op <> 'DELETE' and new.nonce is not null and new.status in ('queued', 'broadcast') then
    insert into wallet.in_flight (network, from_address, nonce, sequence, client_id, id, block_number)
      values (new.network, new.from_address, new.nonce, new.sequence, new.client_id, new.id, new.block_number);
  end if;
  return null;
end $$;
create trigger in_flight_added after insert on wallet.transfers
  for each row when (new.nonce is not null and new.status in ('queued', 'broadcast')) execute function wallet.place_in_flight();
create trigger in_flight_moved after update on wallet.transfers
  for each row when (
    (new.nonce, new.block_number, new.status in ('queued', 'broadcast'))
      is distinct from (old.nonce, old.block_number, old.status in ('queued', 'broadcast'))
  ) execute function wallet.place_in_flight();
create trigger in_flight_removed after delete on wallet.transfers
  for each row when (old.nonce is not null) execute function wallet.place_in_flight();

insert into wallet.to_send (network, sequence, client_id, id, due_at)
  select network, sequence, client_id, id, next_attempt_at from wallet.transfers where status = 'queued' or resend;
insert into wallet.in_flight (network, from_address, nonce, sequence, client_id, id, block_number)
  select network, from_address, nonce, sequence, client_id, id, block_number from wallet.transfers
  where nonce is not null and status in ('queued', 'broadcast');

drop index wallet.transfers_to_send, wallet.transfers_open, wallet.transfers_mined, wallet.transfers_unmined;

-- A sequence gives each number once, so no index has to say so. The last number of all is the greatest of the last numbers of clients.
alter table wallet.changes drop constraint changes_number_key;
alter table wallet.changes set (fillfactor = 70);

create function wallet.last_change() returns bigint language sql stable as $$
  select coalesce(max(last.number), 0) from wallet.clients c
  cross join lateral (select number from wallet.changes where client_id = c.id order by number desc limit 1) last
$$;

create or replace function wallet.present_epoch() returns text language plpgsql as $$
declare
  present constant text := md5(extract(epoch from pg_postmaster_start_time())::text || ' ' || 'wallet.epochs'::regclass::oid::text || ' '
    || (select oid from pg_database where datname = current_database())::text);
begin
  if not exists (select from wallet.epochs where mark = present) then
    perform pg_advisory_xact_lock(7522537965568);
    insert into wallet.epochs (mark, began_after)
      select present, wallet.last_change() where not exists (select from wallet.epochs where mark = present);
  end if;
  return present;
end $$;

create or replace function wallet.number_change() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7522537965568);
  perform wallet.present_epoch();
  update wallet.changes set number = nextval('wallet.change_numbers') where client_id = new.client_id and id = new.id;
  if not found then
    insert into wallet.changes (client_id, id, number) values (new.client_id, new.id, nextval('wallet.change_numbers'));
  end if;
  perform pg_notify('wallet_changes', new.client_id::text);
  return null;
end $$;
