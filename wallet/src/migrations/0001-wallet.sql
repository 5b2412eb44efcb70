-- What the passphrase is stretched with, and a sealed known text that tells a right passphrase from a wrong one.
create table wallet.keyring (
  only_row     boolean primary key default true check (only_row),
  salt         bytea not null check (length(salt) >= 16),
  scrypt_cost  integer not null check (scrypt_cost >= 16384),
  sealed_check bytea not null,
  created_at   timestamptz(3) not null default now()
);

-- A client is one vault: one bearer token, one mnemonic, so that equal paths of two vaults never share a key.
create table wallet.clients (
  id              uuid primary key,
  name            text not null unique check (length(name) between 1 and 100),
  token_hash      bytea not null unique check (length(token_hash) = 32),
  sealed_mnemonic bytea not null,
  created_at      timestamptz(3) not null default now()
);

create table wallet.addresses (
  client_id       uuid not null references wallet.clients (id),
  network         text not null,
  derivation_path text not null,
  address         text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  created_at      timestamptz(3) not null default now(),
  primary key (client_id, network, derivation_path),
  unique (network, address)
);

-- The next nonce that this wallet service will sign with; locked while a nonce is assigned.
create table wallet.nonces (
  network    text not null,
  address    text not null,
  next_nonce bigint not null default 0 check (next_nonce >= 0),
  primary key (network, address)
);

create table wallet.transfers (
  sequence         bigint generated always as identity unique,
  client_id        uuid not null references wallet.clients (id),
  id               text not null,
  network          text not null,
  coin_type        bigint not null,
  derivation_path  text not null,
  from_address     text not null,
  to_address       text not null,
  contract_address text,
  amount           numeric(78,0) not null check (amount > 0),
  status           text not null default 'queued' check (status in ('queued', 'broadcast', 'confirmed', 'failed')),
  nonce            bigint,
  raw_transaction  text,
  tx_hash          text unique,
  -- The most native coin that the transaction can take from the address: value + gas limit * max fee per gas.
  max_cost         numeric(78,0),
  -- Send the same stored bytes again: the node lost them, or the chain went back behind them.
  resend           boolean not null default false,
  fee              numeric(78,0),
  confirmations    integer not null default 0,
  block_number     bigint,
  block_time       timestamptz(3),
  failure_reason   text,
  attempts         integer not null default 0,
  next_attempt_at  timestamptz(3) not null default now(),
  last_error       text,
  created_at       timestamptz(3) not null default now(),
  updated_at       timestamptz(3) not null default now(),
  primary key (client_id, id),
  unique (network, from_address, nonce),
  check ((nonce is null) = (raw_transaction is null) and (nonce is null) = (tx_hash is null) and (nonce is null) = (max_cost is null)),
  check (status in ('queued', 'failed') or raw_transaction is not null),
  check (not resend or raw_transaction is not null),
  check ((status = 'failed') = (failure_reason is not null))
);
create index transfers_to_send on wallet.transfers (network, next_attempt_at) where status = 'queued' or resend;
create index transfers_to_settle on wallet.transfers (network, from_address, nonce) where status = 'broadcast';

-- What was signed is never signed anew: nonce, bytes and hash are written once.
create function wallet.refuse_second_signature() returns trigger language plpgsql as $$
begin
  if old.raw_transaction is not null and (
    new.raw_transaction is distinct from old.raw_transaction or new.tx_hash is distinct from old.tx_hash or new.nonce is distinct from old.nonce
  ) then
    raise exception 'transfer % is signed already; its transaction cannot be replaced', old.id;
  end if;
  return new;
end $$;
create trigger transfers_signed_once before update on wallet.transfers for each row execute function wallet.refuse_second_signature();

-- How far each chain has been read. previous_hash is the hash of block next_block - 1, null when it is not known.
create table wallet.cursors (
  network       text primary key,
  next_block    bigint not null check (next_block >= 0),
  previous_hash text,
  head_block    bigint not null default 0,
  updated_at    timestamptz(3) not null default now()
);

create table wallet.token_decimals (
  network          text not null,
  contract_address text not null,
  decimals         integer not null check (decimals between 0 and 36),
  primary key (network, contract_address)
);

create table wallet.webhook_deliveries (
  sequence        bigint generated always as identity unique,
  id              text primary key,
  -- network, transaction hash, recipient, contract, position in the transaction; never a block hash or block-wide log index.
  event_key       text not null unique,
  body            text not null,
  attempts        integer not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  delivered_at    timestamptz(3),
  last_error      text,
  created_at      timestamptz(3) not null default now()
);
create index webhook_deliveries_due on wallet.webhook_deliveries (next_attempt_at) where delivered_at is null;
