-- The highest version of the authority that the wallet service of a protected vault has shown: a restore of both of its files is
-- noticed by whoever remembers it.
create table authority_marks (
  vault_id text primary key references vaults (id),
  version bigint not null check (version >= 1),
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  seen_at timestamptz(3) not null,
  -- What it shows instead since when: an older version, or another document of the same number. 0: no authority at all.
  shown_version bigint check (shown_version >= 0),
  shown_hash text check (shown_hash ~ '^[0-9a-f]{64}$'),
  alarm_since timestamptz(3),
  check ((alarm_since is null) = (shown_version is null)),
  check ((shown_hash is null) = (coalesce(shown_version, 0) = 0))
);
create index authority_marks_alarm on authority_marks (alarm_since) where alarm_since is not null;

-- A signed cancellation, as there are signed vetoes.
alter table signed_votes drop constraint signed_votes_decision_check;
alter table signed_votes add constraint signed_votes_decision_check
  check (decision in ('initiate', 'approve', 'reject', 'cancel'));

-- Signed vetoes and cancellations that the wallet service of the vault is still to be told of.
create table stops_due (
  vault_id text not null,
  subject_id text not null,
  user_id text not null,
  decision text not null check (decision in ('reject', 'cancel')),
  attempts integer not null default 0,
  created_at timestamptz(3) not null,
  next_attempt_at timestamptz(3) not null,
  primary key (vault_id, subject_id, user_id, decision),
  foreign key (vault_id, subject_id, user_id, decision) references signed_votes
);
create index stops_due_next on stops_due (next_attempt_at);
