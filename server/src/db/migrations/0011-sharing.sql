-- Who else may see an address, or move its funds: grants on it, and on the folders it is in.
-- A subject is 'user:<id>' or 'group:<id>' of a policy group; `everyone` is a group like any other. A group that is
-- deleted takes what was granted to it along; users are never deleted, and grants of somebody who left lie idle.

create table address_grants (
  vault_id text not null,
  id text not null,
  address_id text not null,
  subject_type text not null check (subject_type in ('user', 'group')),
  subject_id text not null,
  subject text not null generated always as (subject_type || ':' || subject_id) stored,
  subject_group_id text generated always as (case when subject_type = 'group' then subject_id end) stored,
  can_view boolean not null check (can_view),
  can_transfer boolean not null,
  grantor_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  foreign key (vault_id, address_id) references addresses (vault_id, id),
  foreign key (vault_id, subject_group_id) references policy_groups (vault_id, id) on delete cascade
);
-- Read from both sides: what is shared with somebody, and with whom something is shared.
create unique index address_grants_of_subject on address_grants (vault_id, subject, address_id);
create index address_grants_of_address on address_grants (vault_id, address_id, created_at desc, id desc);

create table address_groups (
  vault_id text not null references vaults (id),
  id text not null,
  name text not null,
  description text,
  color text,
  emoji text,
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index address_groups_feed on address_groups (vault_id, created_at desc, id desc);
create index address_groups_manager_feed on address_groups (vault_id, created_by_id, created_at desc, id desc);

create table address_group_members (
  vault_id text not null,
  group_id text not null,
  address_id text not null,
  created_at timestamptz(3) not null,
  constraint address_group_members_once primary key (vault_id, group_id, address_id),
  foreign key (vault_id, group_id) references address_groups (vault_id, id) on delete cascade,
  foreign key (vault_id, address_id) references addresses (vault_id, id)
);
create index address_group_members_feed on address_group_members (vault_id, group_id, created_at desc, address_id desc);
create index address_group_members_of_address on address_group_members (vault_id, address_id);

create table address_group_grants (
  vault_id text not null,
  id text not null,
  group_id text not null,
  subject_type text not null check (subject_type in ('user', 'group')),
  subject_id text not null,
  subject text not null generated always as (subject_type || ':' || subject_id) stored,
  subject_group_id text generated always as (case when subject_type = 'group' then subject_id end) stored,
  can_view boolean not null check (can_view),
  can_transfer boolean not null,
  grantor_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  foreign key (vault_id, group_id) references address_groups (vault_id, id) on delete cascade,
  foreign key (vault_id, subject_group_id) references policy_groups (vault_id, id) on delete cascade
);
create unique index address_group_grants_of_subject on address_group_grants (vault_id, subject, group_id);
create index address_group_grants_of_group on address_group_grants (vault_id, group_id, created_at desc, id desc);
