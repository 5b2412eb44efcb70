-- The address book of a vault: who is behind an on-chain address.

create table counterparties (
  vault_id text not null references vaults (id),
  id text not null,
  name text not null,
  kind text not null check (kind in ('individual', 'company', 'exchange', 'service', 'other')),
  description text,
  avatar_uri text,
  color text,
  emoji text,
  archived_at timestamptz(3),
  -- One step for every change; what an approval was asked for must still be the version that is changed.
  version integer not null default 1,
  created_by_id text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index counterparties_feed on counterparties (vault_id, created_at desc, id desc);

create table counterparty_addresses (
  vault_id text not null,
  id text not null,
  counterparty_id text not null,
  network_id text not null references networks (id),
  address text not null,
  address_key text not null,
  label text,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint counterparty_addresses_once unique (vault_id, network_id, address_key),
  foreign key (vault_id, counterparty_id) references counterparties (vault_id, id)
);
create index counterparty_addresses_of on counterparty_addresses (vault_id, counterparty_id);

create table counterparty_groups (
  vault_id text not null references vaults (id),
  id text not null,
  code text not null,
  name text not null,
  description text,
  avatar_uri text,
  color text,
  emoji text,
  archived_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint counterparty_groups_code unique (vault_id, code)
);
create index counterparty_groups_feed on counterparty_groups (vault_id, created_at desc, id desc);

create table counterparty_group_memberships (
  vault_id text not null,
  group_id text not null,
  counterparty_id text not null,
  created_at timestamptz(3) not null,
  constraint counterparty_group_memberships_once primary key (vault_id, group_id, counterparty_id),
  foreign key (vault_id, group_id) references counterparty_groups (vault_id, id),
  foreign key (vault_id, counterparty_id) references counterparties (vault_id, id)
);
create index counterparty_group_memberships_of on counterparty_group_memberships (vault_id, counterparty_id);
-- History and reports of one counterparty; most operations of a busy vault have none.
create index operations_counterparty on operations (vault_id, counterparty_id, created_at desc, id desc)
  where counterparty_id is not null;
