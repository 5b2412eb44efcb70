-- What waits for votes before it is done: one gated action, or a chain of them.

create table approval_requests (
  vault_id text not null,
  id text not null,
  action text not null,
  status text not null check (status in ('pending', 'applied', 'rejected', 'cancelled', 'expired', 'failed', 'stale')),
  initiator_id text not null,
  -- What was found possible, is voted on and is applied. What the wire shows is read from here, so that nobody votes on
  -- anything else; the hash binds it together with the request and its initiator.
  steps jsonb not null,
  payload_hash bytea not null,
  -- One decision per step, with the policies as they were.
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
  primary key (vault_id, id),
  check ((status = 'pending') = (resolved_at is null)),
  check ((status = 'applied') = (results is not null))
);
create index approval_requests_feed on approval_requests (vault_id, created_at desc, id desc);
create index approval_requests_expiry on approval_requests (expires_at) where status = 'pending';
