-- What an order may say about its fee: how soon it should be mined, and the most that may ever be paid for it.
alter table wallet.transfers add column fee_level text check (fee_level in ('low', 'medium', 'high'));
alter table wallet.transfers add column max_fee numeric(78,0) check (max_fee > 0);
alter table wallet.transfers add constraint transfers_id_nonce unique (client_id, id, nonce);

-- Every transaction that was ever signed for a transfer. All of one transfer share its nonce, so that at most one is mined.
create table wallet.transactions (
  client_id       uuid not null,
  id              text not null,
  number          integer not null check (number >= 0),
  nonce           bigint not null,
  kind            text not null check (kind in ('payment', 'cancellation')),
  raw_transaction text not null,
  tx_hash         text not null unique,
  created_at      timestamptz(3) not null default now(),
  primary key (client_id, id, number),
  foreign key (client_id, id, nonce) references wallet.transfers (client_id, id, nonce)
);

insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
select client_id, id, 0, nonce, 'payment', raw_transaction, tx_hash from wallet.transfers where raw_transaction is not null;

create function wallet.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'what was signed is kept as it is';
end $$;
create trigger transactions_kept before update or delete on wallet.transactions
  for each row execute function wallet.refuse_change();

-- A transfer keeps its nonce for good. Its bytes and hash are those of one of its stored transactions, or none.
create or replace function wallet.refuse_second_signature() returns trigger language plpgsql as $$
begin
  if old.nonce is not null and new.nonce is distinct from old.nonce then
    raise exception 'transfer % is signed already; its nonce cannot be replaced', old.id;
  end if;
  if old.raw_transaction is not null
    and (new.raw_transaction is distinct from old.raw_transaction or new.tx_hash is distinct from old.tx_hash)
    and not exists (select from wallet.transactions t where t.client_id = new.client_id and t.id = new.id
      and t.raw_transaction = new.raw_transaction and t.tx_hash = new.tx_hash)
  then
    raise exception 'transfer % is signed already; its transaction cannot be replaced by one that is not stored', old.id;
  end if;
  return new;
end $$;

-- A nonce that was given away is never given again.
create function wallet.refuse_rewind() returns trigger language plpgsql as $$
begin
  if new.next_nonce < old.next_nonce then
    raise exception 'the next nonce of % cannot go back from % to %', old.address, old.next_nonce, new.next_nonce;
  end if;
  return new;
end $$;
create trigger nonces_never_rewound before update on wallet.nonces for each row execute function wallet.refuse_rewind();
