-- On networks with outputs a transaction may spend what several addresses have: each of them is stopped, and is listed with what left it.
-- `key` names the entry among what was accepted; entries that were listed before keep theirs.
alter table wallet.unknown_transactions add column key text;
update wallet.unknown_transactions set key = network || ' ' || tx_hash;
alter table wallet.unknown_transactions
  alter column key set not null,
  drop constraint unknown_transactions_pkey,
  add primary key (network, tx_hash, from_address),
  add constraint unknown_transactions_key unique (key);

create function wallet.name_unknown_transaction() returns trigger language plpgsql as $$
begin
  new.key := new.network || ' ' || new.tx_hash || ' ' || new.from_address;
  return new;
end $$;
create trigger unknown_transactions_named before insert on wallet.unknown_transactions
  for each row execute function wallet.name_unknown_transaction();

create or replace function wallet.accept_transaction() returns trigger language plpgsql as $$
begin
  perform wallet.accept(new.client_id, 'transaction', new.key);
  return null;
end $$;
