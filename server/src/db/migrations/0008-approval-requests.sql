-- What waits for votes before it is done: one gated action, or a chain of them.

create table approval_requests (
  vault_id text not null,
  id text not null,
  action text not null,
  status text not null check (status in ('pending', 'applied', 'rejected', 'cancelled', 'expired', 'failed', 'stale')),
  initiator_id text not null,
  target_type text not null,
  target_id text,
  base_version text,
  -- As it was asked for; what is applied are `steps`, bound by their hash.
  payload jsonb not null,
  steps jsonb not null,
  payload_hash bytea not null,
  decision jsonb not null,
  decision_policy_id text,
  decision_policy_code text,
  approval_threshold integer not null,
  resolved_result_id text,
  results jsonb,
  failure_reason text,
  resolved_at timestamptz(3),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index approval_requests_feed on approval_requests (vault_id, created_at desc, id desc);
create index approval_requests_expiry on approval_requests (expires_at) where status = 'pending';
