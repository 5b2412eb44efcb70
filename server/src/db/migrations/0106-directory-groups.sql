-- The groups of a directory. They give nobody a right.
create table directory_groups (
  id text primary key,
  directory_id text not null references directories (id),
  display_name text not null,
  external_id text,
  version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index directory_groups_display_name on directory_groups (directory_id, lower(display_name));
create index directory_groups_in_order on directory_groups (directory_id, id);

create table directory_group_members (
  group_id text not null references directory_groups (id) on delete cascade,
  user_id text not null references directory_people (user_id) on delete cascade,
  primary key (group_id, user_id)
);
create index directory_group_members_of_person on directory_group_members (user_id);
