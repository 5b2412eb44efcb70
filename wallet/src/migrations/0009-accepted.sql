-- What was accepted of each client, in the order of the commits: transfers that it ordered, addresses that it asked for, and events that
-- it has taken. The digest of an entry covers all entries before it, so that a cursor names the whole past.
create table wallet.accepted (
  client_id uuid not null references wallet.clients (id),
  number    bigint not null check (number > 0),
  kind      text not null check (kind in ('transfer', 'address', 'event')),
  -- The id of a transfer or of an event; network and derivation path of an address.
  key       text not null,
  digest    bytea not null check (length(digest) = 32),
  primary key (client_id, number),
  unique (client_id, kind, key)
);

create function wallet.refuse_rewriting() returns trigger language plpgsql as $$
begin
  raise exception 'what was accepted is never changed or deleted';
end $$;
create trigger accepted_for_good before update or delete on wallet.accepted
  for each statement execute function wallet.refuse_rewriting();

-- Under the lock of the changes, which is held until the commit: the entries of a client have no gap, and no smaller number comes later.
create function wallet.accept(of_client uuid, of_kind text, of_key text) returns void language plpgsql as $$
declare
  last wallet.accepted;
begin
  perform pg_advisory_xact_lock(7522537965568);
  if exists (select from wallet.accepted where client_id = of_client and kind = of_kind and key = of_key) then
    return;
  end if;
  select * into last from wallet.accepted where client_id = of_client order by number desc limit 1;
  insert into wallet.accepted (client_id, number, kind, key, digest) values (
    of_client, coalesce(last.number, 0) + 1, of_kind, of_key,
    sha256(coalesce(last.digest, ''::bytea) || convert_to(of_kind || ' ' || of_key, 'UTF8')));
end $$;

create function wallet.accept_transfer() returns trigger language plpgsql as $$
begin
  perform wallet.accept(new.client_id, 'transfer', new.id);
  return null;
end $$;
create constraint trigger transfers_accepted after insert on wallet.transfers
  deferrable initially deferred for each row execute function wallet.accept_transfer();

create function wallet.accept_address() returns trigger language plpgsql as $$
begin
  perform wallet.accept(new.client_id, 'address', new.network || ' ' || new.derivation_path);
  return null;
end $$;
create constraint trigger addresses_accepted after insert on wallet.addresses
  deferrable initially deferred for each row execute function wallet.accept_address();

create function wallet.accept_event() returns trigger language plpgsql as $$
declare
  of_client uuid;
begin
  select a.client_id into of_client from wallet.addresses a
    where a.network = new.body::jsonb -> 'tx' ->> 'network' and a.address = new.body::jsonb -> 'tx' ->> 'toAddress';
  if of_client is not null then
    perform wallet.accept(of_client, 'event', new.id);
  end if;
  return null;
end $$;
create constraint trigger webhook_deliveries_accepted after update on wallet.webhook_deliveries
  deferrable initially deferred for each row
  when (old.delivered_at is null and new.delivered_at is not null) execute function wallet.accept_event();

-- What was accepted before.
do $$
declare
  entry record;
begin
  for entry in
    select client_id, 'address' as kind, network || ' ' || derivation_path as key, created_at from wallet.addresses
    union all
    select client_id, 'transfer', id, created_at from wallet.transfers
    union all
    select a.client_id, 'event', d.id, d.delivered_at from wallet.webhook_deliveries d
    join wallet.addresses a on a.network = d.body::jsonb -> 'tx' ->> 'network' and a.address = d.body::jsonb -> 'tx' ->> 'toAddress'
    where d.delivered_at is not null
    order by created_at, kind, key
  loop
    perform wallet.accept(entry.client_id, entry.kind, entry.key);
  end loop;
end $$;
