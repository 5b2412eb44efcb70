-- Votes that groups must give, and what a backtest of policies reads and finds.

-- How many of the votes the group must give; null: as many as it likes.
alter table policy_approvers add column threshold integer check (threshold >= 1);
alter table policy_approvers add constraint policy_approvers_threshold_of_group check (threshold is null or kind = 'group');

-- The same for what waits: [{groupId, threshold}]; null: the votes may come from anybody who is asked.
alter table approval_requirements add column group_thresholds jsonb;

-- Decisions that are kept with nothing else: orders and actions that were refused, and actions that were carried out at once.
create table decisions (
  vault_id text not null references vaults (id),
  id text not null,
  action text not null,
  initiator_id text not null,
  -- [{actionType, effect, decisionPolicy, requirements, trace, facts}]: one for each step of the action; of an order one.
  decisions jsonb not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index decisions_newest on decisions (vault_id, created_at desc, id desc);

create table backtests (
  vault_id text not null references vaults (id),
  id text not null,
  requester_id text not null references users (id),
  state text not null check (state in ('queued', 'running', 'done', 'failed')),
  -- Counts the takings; what an earlier one still writes no longer counts.
  attempt integer not null default 0,
  -- Whoever took it is thought dead after that.
  leased_until timestamptz(3),
  failure text,
  -- Every policy that is tried: the drafts, and the saved ones beside them as they were when it was asked for.
  policies jsonb not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  -- How many decisions there are, and how many of them were evaluated so far.
  decisions_count integer not null,
  evaluated_count integer not null default 0,
  -- The counts and sums of the whole interval.
  result jsonb,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  primary key (vault_id, id),
  check ((state = 'running') = (leased_until is not null)),
  check ((state = 'failed') = (failure is not null)),
  check ((state = 'done') = (result is not null))
);
-- A vault has one at a time that is not finished.
create unique index backtests_open on backtests (vault_id) where state in ('queued', 'running');
create index backtests_created on backtests (created_at);

-- The decisions that would change. Both traces are made anew when somebody reads them.
create table backtest_changes (
  vault_id text not null,
  backtest_id text not null,
  subject_type text not null check (subject_type in ('transfer', 'payout', 'approval_request', 'decision')),
  subject_id text not null,
  change text not null check (change in ('stricter', 'looser', 'undecidable')),
  -- When the decision was made.
  created_at timestamptz(3) not null,
  primary key (vault_id, backtest_id, created_at, subject_id),
  foreign key (vault_id, backtest_id) references backtests (vault_id, id) on delete cascade
);
create index backtest_changes_by_change on backtest_changes (vault_id, backtest_id, change, created_at desc, subject_id desc);
