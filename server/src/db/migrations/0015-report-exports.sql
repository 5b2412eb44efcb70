-- Files of reports that are made in the background: orders, and the bytes in pieces of at most 1 MiB.
create table report_exports (
  vault_id text not null references vaults (id),
  id text not null,
  requester_id text not null references users (id),
  report_type text not null,
  format text not null check (format in ('csv', 'xlsx', 'pdf')),
  parameters jsonb not null,
  state text not null check (state in ('queued', 'running', 'done', 'failed')),
  percent smallint not null check (percent between 0 and 100),
  -- Counts the takings; what an earlier one still writes no longer counts.
  attempt integer not null default 0,
  -- Whoever took it is thought dead after that.
  leased_until timestamptz(3),
  failure text,
  size_bytes bigint,
  -- What the requester was when the file was made: to read it they must still see all of that.
  seen_whole_vault boolean,
  seen_group_ids text[],
  seen_shared_ids text[],
  seen_category_rights text[],
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  expires_at timestamptz(3) not null,
  primary key (vault_id, id),
  check ((state = 'running') = (leased_until is not null)),
  check ((state = 'failed') = (failure is not null)),
  check ((state = 'done') = (size_bytes is not null))
);
create index report_exports_open on report_exports (created_at) where state in ('queued', 'running');
create index report_exports_of_requester on report_exports (requester_id, created_at);
create index report_exports_expiry on report_exports (expires_at);

create table report_export_chunks (
  vault_id text not null,
  export_id text not null,
  attempt integer not null,
  position integer not null,
  bytes bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (vault_id, export_id, attempt, position),
  foreign key (vault_id, export_id) references report_exports (vault_id, id) on delete cascade
);
-- The files are compressed already, or are read once.
alter table report_export_chunks alter column bytes set storage external;
