-- Networks without accounts: what an address can pay with are outputs of transactions, called coins here. Addresses have other forms there.
alter table wallet.addresses drop constraint addresses_address_check;
alter table wallet.addresses add constraint addresses_address_check check (address ~ '^[!-~]{1,128}$');

-- Outputs that pay addresses of clients: reported deposits, and the change of own transactions from their signature on.
create table wallet.coins (
  network         text not null,
  tx_hash         text not null,
  index           integer not null check (index >= 0),
  client_id       uuid not null references wallet.clients (id),
  address         text not null,
  amount          numeric(20,0) not null check (amount > 0),
  -- The deposit that reported it; null for change.
  event_key       text references wallet.deposits (event_key),
  -- The transfer whose change it is; null for a deposit.
  change_of       text,
  -- The transfer that spends it. All transactions of a transfer spend no other coins than those that it took.
  taken_by        text,
  -- The final transaction that spent it, whoever signed that.
  spent_by        text,
  spent_block     bigint,
  primary key (network, tx_hash, index),
  foreign key (client_id, change_of) references wallet.transfers (client_id, id),
  foreign key (client_id, taken_by) references wallet.transfers (client_id, id),
  check ((event_key is null) <> (change_of is null)),
  check ((spent_by is null) = (spent_block is null))
);
create index coins_to_spend on wallet.coins (network, address) where taken_by is null and spent_by is null;
create index coins_taken on wallet.coins (client_id, taken_by) where taken_by is not null and spent_by is null;
create index coins_of_change on wallet.coins (client_id, change_of) where change_of is not null;

-- What each transaction of a transfer spends. The first input of the first transaction is the anchor of the transfer.
create table wallet.transaction_inputs (
  client_id uuid not null,
  id        text not null,
  number    integer not null,
  position  integer not null check (position >= 0),
  network   text not null,
  tx_hash   text not null,
  index     integer not null,
  primary key (client_id, id, number, position),
  unique (client_id, id, number, tx_hash, index),
  foreign key (client_id, id, number) references wallet.transactions (client_id, id, number),
  foreign key (network, tx_hash, index) references wallet.coins (network, tx_hash, index)
);
create index transaction_inputs_spent on wallet.transaction_inputs (network, tx_hash, index);

create trigger transaction_inputs_kept before update or delete on wallet.transaction_inputs
  for each row execute function wallet.refuse_change();

-- An output is taken by one transfer, and given back only when that transfer has ended with another transaction.
create function wallet.refuse_second_taking() returns trigger language plpgsql as $$
begin
  if old.taken_by is null or new.taken_by is not distinct from old.taken_by then
    return new;
  end if;
  if new.taken_by is not null then
    raise exception 'output %:% is taken by transfer % already', old.tx_hash, old.index, old.taken_by;
  end if;
  if exists (select from wallet.transfers t where t.client_id = old.client_id and t.id = old.taken_by and t.status in ('queued', 'broadcast')) then
    raise exception 'output %:% is taken by transfer %, which has not ended', old.tx_hash, old.index, old.taken_by;
  end if;
  return new;
end $$;
create trigger coins_taken_once before update on wallet.coins for each row execute function wallet.refuse_second_taking();

-- A transaction spends what its transfer took, and nothing else.
create function wallet.refuse_untaken_input() returns trigger language plpgsql as $$
begin
  if not exists (
    select from wallet.coins c where c.network = new.network and c.tx_hash = new.tx_hash and c.index = new.index
      and c.client_id = new.client_id and c.taken_by = new.id
  ) then
    raise exception 'output %:% is not taken by transfer %', new.tx_hash, new.index, new.id;
  end if;
  return new;
end $$;
create trigger transaction_inputs_taken before insert on wallet.transaction_inputs
  for each row execute function wallet.refuse_untaken_input();

-- A child spends the change of its own transfer, so that who mines it must mine the payment first.
alter table wallet.transactions drop constraint transactions_kind_check;
alter table wallet.transactions add constraint transactions_kind_check check (kind in ('payment', 'cancellation', 'child'));

-- All other transactions of a transfer spend its anchor, so that at most one of them is mined. Looked at when the inputs are stored as well.
create function wallet.refuse_without_anchor() returns trigger language plpgsql as $$
declare
  anchor wallet.transaction_inputs;
begin
  if new.kind = 'child' then
    if not exists (
      select from wallet.transaction_inputs i
      join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
      where i.client_id = new.client_id and i.id = new.id and i.number = new.number and c.change_of = new.id
    ) then
      raise exception 'a child of transfer % does not spend its change', new.id;
    end if;
    return null;
  end if;
  select * into anchor from wallet.transaction_inputs
    where client_id = new.client_id and id = new.id and number = 0 and position = 0;
  if found and not exists (
    select from wallet.transaction_inputs i where i.client_id = new.client_id and i.id = new.id and i.number = new.number
      and i.tx_hash = anchor.tx_hash and i.index = anchor.index
  ) then
    raise exception 'a transaction of transfer % does not spend %:%', new.id, anchor.tx_hash, anchor.index;
  end if;
  return null;
end $$;
create constraint trigger transactions_spend_anchor after insert on wallet.transactions
  deferrable initially deferred for each row execute function wallet.refuse_without_anchor();
