-- Transactions of watched addresses that this database has no record of: it was restored to an earlier time, or somebody else has the key.
create table wallet.unknown_transactions (
  network      text not null,
  tx_hash      text not null,
  client_id    uuid not null references wallet.clients (id),
  from_address text not null,
  nonce        bigint not null check (nonce >= 0),
  block_number bigint not null,
  fee          numeric(78,0) not null check (fee >= 0),
  -- What it moved out of the address: [{"toAddress", "contractAddress", "amount"}], amounts as text.
  payments     jsonb not null,
  found_at     timestamptz(3) not null default now(),
  primary key (network, tx_hash)
);

alter table wallet.accepted drop constraint accepted_kind_check,
  add constraint accepted_kind_check check (kind in ('transfer', 'address', 'event', 'transaction'));

create function wallet.accept_transaction() returns trigger language plpgsql as $$
begin
  perform wallet.accept(new.client_id, 'transaction', new.network || ' ' || new.tx_hash);
  return null;
end $$;
create constraint trigger unknown_transactions_listed after insert on wallet.unknown_transactions
  deferrable initially deferred for each row execute function wallet.accept_transaction();

-- Names this database: another one after a restore or a promotion, which begin another timeline, and in a copy.
create function wallet.database_mark() returns text language sql as $$
  select md5((select system_identifier from pg_control_system())::text || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || ' ' || (select oid from pg_database where datname = current_database())::text)
$$;
