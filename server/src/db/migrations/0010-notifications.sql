-- What people are told by mail. A row is written with what it tells of, claimed once, and never sent twice.
create table notifications (
  vault_id text not null,
  subject_id text not null,
  subject_type text not null check (subject_type in ('transfer', 'approval_request')),
  user_id text not null,
  kind text not null check (kind in ('approval_needed', 'decided')),
  created_at timestamptz(3) not null,
  attempts smallint not null default 0,
  -- null: claimed, and either sent or of unknown fate.
  next_attempt_at timestamptz(3),
  sent_at timestamptz(3),
  primary key (vault_id, subject_id, user_id, kind)
);
create index notifications_due on notifications (next_attempt_at) where next_attempt_at is not null;

alter table users add column notify_approvals boolean not null default true;
alter table users add column notify_decisions boolean not null default true;
