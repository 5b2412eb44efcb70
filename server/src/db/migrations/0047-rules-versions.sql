-- Every published state of the rules of a vault has a number.

create table rules_heads (
  vault_id text primary key references vaults (id),
  -- The newest version. Whoever changes the rules holds the lock of this row.
  number integer not null check (number >= 0),
  -- The transaction that changed the rules last.
  published_in xid8
);

create table rules_versions (
  vault_id text not null references vaults (id),
  number integer not null check (number >= 1),
  document jsonb not null,
  -- SHA-256 of the canonical JSON of the document.
  hash bytea not null,
  -- null: the service itself, or what was changed behind it.
  author_id text references users (id),
  change_set_id text,
  -- Against the version before; null for the first.
  direction text check (direction in ('loosening', 'tightening')),
  created_at timestamptz(3) not null,
  primary key (vault_id, number)
);
