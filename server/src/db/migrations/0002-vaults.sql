-- The global registry of networks and tokens, and the vaults with their derivation structure.

create table networks (
  id text primary key,
  coin_type integer not null unique check (coin_type >= 0),
  code text not null,
  slug text not null unique,
  name text not null,
  description text,
  logo_uri text,
  type text not null check (type in ('evm', 'bitcoin', 'tron', 'solana', 'other')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table tokens (
  id text primary key,
  network_id text not null references networks (id),
  code text not null,
  symbol text not null,
  name text not null,
  contract_address text,
  -- What contracts are compared by: lower case on EVM networks, '' for the native coin.
  contract_key text not null,
  decimals smallint not null check (decimals between 0 and 36),
  logo_uri text,
  enabled boolean not null default true,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (network_id, contract_key),
  unique (network_id, code),
  check ((contract_address is null) = (contract_key = ''))
);

create table vaults (
  id text primary key,
  code text not null unique,
  name text not null,
  description text,
  wallet_service_url text not null,
  -- The bearer secret of the wallet service, sealed with STRONGROOM_SECRET_KEY.
  wallet_service_secret bytea,
  locked_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table vault_networks (
  vault_id text not null references vaults (id),
  network_id text not null references networks (id),
  position smallint not null,
  primary key (vault_id, network_id)
);

create table routes (
  vault_id text not null references vaults (id),
  id text not null,
  position smallint not null check (position >= 0),
  code text not null,
  name text not null,
  description text,
  dynamic boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, position),
  unique (vault_id, code)
);
create unique index routes_one_dynamic on routes (vault_id) where dynamic;

create table variants (
  vault_id text not null,
  id text not null,
  route_id text not null,
  path_id bigint not null check (path_id between 0 and 2147483647),
  code text not null,
  name text not null,
  description text,
  enabled boolean not null default true,
  token_id text references tokens (id),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, route_id, path_id),
  unique (vault_id, route_id, code),
  foreign key (vault_id, route_id) references routes (vault_id, id) on delete cascade
);

create table addresses (
  vault_id text not null references vaults (id),
  id text not null,
  network_id text not null references networks (id),
  address text not null,
  -- What addresses are compared by: lower case on EVM networks, exact elsewhere.
  address_key text not null,
  derivation_path text not null,
  -- The derivation path without its dynamic segment: the scope within which indexes are gap-free.
  static_prefix text not null,
  path_index bigint not null check (path_index between 0 and 2147483647),
  segments jsonb not null,
  owner_id text not null references users (id),
  token_id text references tokens (id),
  label text,
  description text,
  tags text[] not null default '{}',
  logo_uri text,
  color text,
  emoji text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, network_id, derivation_path),
  unique (vault_id, static_prefix, path_index)
);
-- An on-chain address belongs to one vault only: the webhook finds its vault by it.
create unique index addresses_on_chain on addresses (network_id, address_key);
create index addresses_feed on addresses (vault_id, created_at desc, id desc);
create index addresses_owner_feed on addresses (vault_id, owner_id, created_at desc, id desc);
