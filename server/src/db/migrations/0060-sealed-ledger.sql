-- Entries of the ledger are sealed as audit records are, seals are signed Merkle roots, and witnesses keep the heads.

-- Format 1 lists its records and is not signed. Since format 2 the hash covers the root of the leaves, and the key that signs it.
alter table audit_seals add column format smallint not null default 1,
  add column root bytea,
  add column public_key bytea,
  add column signature bytea;
alter table audit_seals alter column format drop default,
  add constraint audit_seals_signed check (
    case when format = 1 then num_nonnulls(root, public_key, signature) = 0
    else format = 2 and num_nonnulls(root, public_key, signature) = 3 and octet_length(root) = 32
      and octet_length(public_key) = 32 and octet_length(signature) = 64 end);

-- The same columns: `record_ids` are the sequences of entries, `record_hashes` the hashes of what they say (docs/audit.md).
create table ledger_seals (
  chain text not null,
  sequence bigint not null check (sequence >= 1),
  format smallint not null check (format = 2),
  previous_hash bytea not null,
  record_ids text[] not null,
  record_hashes bytea[] not null check (cardinality(record_hashes) = cardinality(record_ids)),
  root bytea not null check (octet_length(root) = 32),
  hash bytea not null,
  public_key bytea not null check (octet_length(public_key) = 32),
  signature bytea not null check (octet_length(signature) = 64),
  sealed_at timestamptz(3) not null,
  primary key (chain, sequence)
);

-- Entries that no seal holds yet. A row is written with its entry and deleted with its sealing: an entry is never updated, and a
-- table without an index costs its writers next to nothing.
create table ledger_unsealed (
  vault_id text not null,
  sequence bigint not null,
  created_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
insert into ledger_unsealed (vault_id, sequence, created_at) select vault_id, sequence, now() from ledger_entries;

-- Who keeps the heads of the chains outside of the database, as WITNESSES names them, and when it is their turn again.
create table witnesses (
  target text primary key,
  -- null: nothing was handed over yet.
  delivered_at timestamptz(3),
  -- Since when it should have been handed over.
  due_at timestamptz(3) not null,
  next_attempt_at timestamptz(3) not null,
  attempts integer not null default 0
);
