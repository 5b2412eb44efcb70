-- What accountants say of operations: categories with typed fields, and how operations relate to each other.

create table operation_categories (
  vault_id text not null references vaults (id),
  id text not null,
  key text not null,
  name text not null,
  description text,
  emoji text,
  color text,
  applies_to text not null check (applies_to in ('transfer', 'deposit', 'both')),
  view_scope text not null check (view_scope in ('owner_only', 'vault_members', 'restricted')),
  assign_scope text not null check (assign_scope in ('owner_only', 'vault_members', 'restricted')),
  edit_scope text not null check (edit_scope in ('owner_only', 'vault_members', 'restricted')),
  approval_scope text not null check (approval_scope in ('none', 'edit', 'assign_and_edit')),
  approval_threshold integer not null check (approval_threshold >= 0),
  allow_initiator_approval boolean not null,
  is_system boolean not null default false,
  archived boolean not null default false,
  -- One step for every change of the definition: its fields, grants and approvers included.
  version integer not null default 1,
  created_by_id text not null,
  updated_by_id text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint operation_categories_key unique (vault_id, key),
  check (approval_scope = 'none' or approval_threshold >= 1)
);
create index operation_categories_feed on operation_categories (vault_id, created_at desc, id desc);

create table category_fields (
  vault_id text not null,
  id text not null,
  category_id text not null,
  key text not null,
  label text not null,
  type text not null check (type in ('text', 'number', 'select', 'date', 'datetime', 'boolean', 'url', 'currency')),
  required boolean not null,
  options_json jsonb,
  scale smallint check (scale between 0 and 18),
  currency_field_key text,
  unit text,
  default_json jsonb,
  help_text text,
  sensitive boolean not null,
  order_index bigint not null,
  archived boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint category_fields_key unique (vault_id, category_id, key),
  foreign key (vault_id, category_id) references operation_categories (vault_id, id)
);

create table category_grants (
  vault_id text not null,
  id text not null,
  category_id text not null,
  subject_type text not null check (subject_type in ('user', 'group')),
  subject_id text not null,
  subject text not null generated always as (subject_type || ':' || subject_id) stored,
  can_view boolean not null,
  can_assign boolean not null,
  can_edit boolean not null,
  grantor_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint category_grants_once unique (vault_id, category_id, subject),
  foreign key (vault_id, category_id) references operation_categories (vault_id, id)
);

create table category_approvers (
  vault_id text not null,
  id text not null,
  category_id text not null,
  kind text not null check (kind in ('user', 'group')),
  user_id text,
  group_id text,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  foreign key (vault_id, category_id) references operation_categories (vault_id, id),
  foreign key (vault_id, group_id) references policy_groups (vault_id, id),
  check ((kind = 'user') = (user_id is not null)),
  check ((kind = 'group') = (group_id is not null))
);
create index category_approvers_of on category_approvers (vault_id, category_id);

create table category_assignments (
  vault_id text not null,
  id text not null,
  operation_id text not null,
  operation_type text not null check (operation_type in ('transfer', 'deposit')),
  -- When the operation was created: the feed of a category is one range of its index.
  operation_created_at timestamptz(3) not null,
  category_id text not null,
  -- Field key to canonical string; a field without a value is absent.
  values jsonb not null,
  version integer not null default 1,
  -- The first assignment of an operation is its metadata.category: lowest position, then the oldest.
  position integer not null default 0,
  assigned_by_id text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint category_assignments_once unique (vault_id, operation_id, category_id),
  foreign key (vault_id, category_id) references operation_categories (vault_id, id),
  foreign key (vault_id, operation_id) references operations (vault_id, id)
);
create index category_assignments_feed
  on category_assignments (vault_id, category_id, operation_created_at desc, operation_id desc);

create table operation_relations (
  vault_id text not null,
  id text not null,
  source_operation_type text not null check (source_operation_type in ('transfer', 'deposit')),
  source_operation_id text not null,
  -- Where the source happened; operations never move to another address.
  source_address_id text not null,
  target_operation_type text not null check (target_operation_type in ('transfer', 'deposit')),
  target_operation_id text not null,
  relation_type text not null check (relation_type in ('refund', 'reversal', 'correction', 'replacement')),
  related_amount numeric(78, 0) check (related_amount > 0),
  -- The token that both operations are of; null when they differ, and then no amount relates them.
  token_id text,
  comment text,
  created_by_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  constraint operation_relations_once unique (vault_id, source_operation_id, target_operation_id, relation_type),
  foreign key (vault_id, source_operation_id) references operations (vault_id, id),
  foreign key (vault_id, target_operation_id) references operations (vault_id, id),
  check (source_operation_id <> target_operation_id),
  check (related_amount is null or token_id is not null)
);
create index operation_relations_target on operation_relations (vault_id, target_operation_id);
create index operation_relations_feed on operation_relations (vault_id, created_at desc, id desc);
create index operation_relations_type_feed on operation_relations (vault_id, relation_type, created_at desc, id desc);
create index operation_relations_token_feed on operation_relations (vault_id, token_id, created_at desc, id desc);
create index operation_relations_address_feed
  on operation_relations (vault_id, source_address_id, created_at desc, id desc);

-- Who sees the source of a relation in their own name: its owner, initiator and approvers, who stay the same for good. The
-- relations of a member are one range of this index, however many the vault has.
create table operation_relation_readers (
  vault_id text not null,
  user_id text not null,
  relation_created_at timestamptz(3) not null,
  relation_id text not null,
  primary key (vault_id, user_id, relation_created_at, relation_id),
  foreign key (vault_id, relation_id) references operation_relations (vault_id, id) on delete cascade
);
create index operation_relation_readers_of on operation_relation_readers (vault_id, relation_id);
