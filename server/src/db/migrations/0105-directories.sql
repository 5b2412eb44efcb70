-- Directories (SCIM 2.0): services of companies that say who works there. They stop people and give nobody a right.
create table directories (
  id text primary key,
  name text not null,
  -- Lower case. The directory names people with addresses of these domains only.
  domains text[] not null check (cardinality(domains) between 1 and 20),
  status text not null check (status in ('draft', 'active', 'off')),
  token_hash bytea not null,
  token_expires_at timestamptz(3) not null,
  -- The token before the last rotation, which works for a while beside the new one.
  previous_token_hash bytea,
  previous_token_expires_at timestamptz(3),
  -- Moved at most once in a minute.
  last_seen_at timestamptz(3),
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((previous_token_hash is null) = (previous_token_expires_at is null))
);
create unique index directories_token on directories (token_hash);
create unique index directories_previous_token on directories (previous_token_hash) where previous_token_hash is not null;
create index directories_active on directories (id) where status = 'active';
create index directories_by_age on directories (created_at desc, id desc);

-- The domains of active directories. A domain belongs to one directory.
create table directory_domains (
  domain text primary key,
  directory_id text not null references directories (id)
);

-- The people of a directory as it names them. The account belongs to the person, and keeps its sign-in address.
create table directory_people (
  user_id text primary key references users (id),
  directory_id text not null references directories (id),
  user_name text not null,
  external_id text,
  -- The last word of the directory. An account that a person disabled stays disabled.
  active boolean not null,
  -- displayName, title, name and emails as SCIM has them.
  attributes jsonb not null,
  version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index directory_people_user_name on directory_people (directory_id, lower(user_name));
create index directory_people_external_id on directory_people (directory_id, external_id);
create index directory_people_in_order on directory_people (directory_id, user_id);

-- The people whom a directory stopped, and the stops that wait for a platform administrator.
create table directory_stops (
  user_id text primary key references users (id),
  directory_id text not null references directories (id),
  asked_at timestamptz(3) not null,
  held boolean not null
);
create index directory_stops_of_directory on directory_stops (directory_id, held, asked_at);
create index directory_stops_held on directory_stops (asked_at) where held;

-- Whichever of 0103 and this one lands first, the later one names the actions of both.
alter table platform_changes drop constraint platform_changes_action_check;
alter table platform_changes add constraint platform_changes_action_check
  check (action in ('token_update', 'user_enable', 'identity_provider_activate', 'identity_provider_enforce',
    'break_glass_name', 'break_glass_remove', 'directory_activate'));
