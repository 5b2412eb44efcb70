-- The record: audit trail with its seals, and answers kept for repeated requests.

create table audit_records (
  -- A vault's id, or 'platform' for what belongs to no vault.
  chain text not null,
  id text not null,
  actor_id text,
  action text not null,
  target_type text not null,
  target_id text,
  created_at timestamptz(3) not null,
  -- The canonical JSON whose SHA-256 is `hash`; the columns above repeat it for the filters.
  content text not null,
  hash bytea not null,
  seal_sequence bigint,
  primary key (chain, id)
);
create index audit_records_feed on audit_records (chain, created_at desc, id desc);
create index audit_records_target on audit_records (chain, target_id);
create index audit_records_unsealed on audit_records (chain) where seal_sequence is null;
create index audit_records_sealed on audit_records (chain, seal_sequence) where seal_sequence is not null;

create table audit_seals (
  chain text not null,
  sequence bigint not null check (sequence >= 1),
  previous_hash bytea not null,
  record_ids text[] not null,
  -- The hash of each record, in the order of record_ids: they let the verifier name the record that was changed.
  record_hashes bytea[] not null check (cardinality(record_hashes) = cardinality(record_ids)),
  hash bytea not null,
  sealed_at timestamptz(3) not null,
  primary key (chain, sequence)
);

create table idempotency_keys (
  caller_id text not null,
  key text not null,
  -- SHA-256 of method, path and body.
  fingerprint bytea not null,
  status smallint not null,
  -- Sealed: an answer may hold a secret that is stored nowhere else in the clear.
  body bytea not null,
  created_at timestamptz(3) not null,
  primary key (caller_id, key)
);
create index idempotency_keys_expiry on idempotency_keys (created_at);
