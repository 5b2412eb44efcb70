-- Many transfers that are ordered, decided and voted on as one. Its rows are transfers that name it.
create table payouts (
  vault_id text not null references vaults (id),
  id text not null,
  name text,
  payment_purpose text,
  initiator_id text not null references users (id),
  status text not null check (status in ('awaiting_approval', 'approved', 'rejected', 'cancelled', 'expired', 'halted')),
  rows_count integer not null check (rows_count > 0),
  -- For each token its sum, as the initiator ordered it.
  sums jsonb not null,
  -- Binds votes to the rows, their transfers and the hashes of their orders.
  payload_hash bytea not null,
  -- The strictest of the decisions on its rows.
  decision jsonb not null,
  decision_policy_id text,
  decision_policy_code text,
  decision_policy_name text,
  approval_threshold integer not null default 0,
  expires_at timestamptz(3),
  halt_reason text,
  resolved_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index payouts_newest on payouts (vault_id, created_at desc, id desc);
create index payouts_of_initiator on payouts (vault_id, initiator_id, created_at desc, id desc);
create index payouts_expiry on payouts (expires_at) where status = 'awaiting_approval';

alter table transfers add column payout_id text;
alter table transfers add column payout_row integer;
alter table transfers add column external_id text;
create unique index transfers_payout_row on transfers (vault_id, payout_id, payout_row) where payout_id is not null;
-- For good: a list that is sent again is not paid again.
create unique index transfers_external_id on transfers (vault_id, external_id) where external_id is not null;

alter table notifications drop constraint notifications_subject_type_check;
alter table notifications add constraint notifications_subject_type_check
  check (subject_type in ('transfer', 'approval_request', 'audit_record', 'payout'));
