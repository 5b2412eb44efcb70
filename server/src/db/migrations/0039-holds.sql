-- Holds: one person stops something at once, two release it together. An active hold is above every policy and vote.

create table holds (
  vault_id text not null references vaults (id),
  id text not null,
  subject_type text not null check (subject_type in ('address', 'vault', 'deposit', 'counterparty', 'transfer', 'user')),
  subject_id text not null,
  reason text not null,
  -- null: the service itself.
  placed_by_id text references users (id),
  -- Of a deposit: what was still available of it in the account of its address, and is reserved until the release.
  reserved numeric(78, 0) check (reserved >= 0),
  -- How many transfers of the subject were handed over before and not finished: these may have been sent.
  handed_over integer not null default 0,
  created_at timestamptz(3) not null,
  released_at timestamptz(3),
  released_by_id text references users (id),
  release_reason text,
  primary key (vault_id, id),
  check ((subject_type = 'deposit') = (reserved is not null)),
  check ((released_at is null) = (release_reason is null)),
  check (released_at is not null or released_by_id is null)
);
-- What every order, vote and hand-over asks: small, because a hold is an exception.
create unique index holds_active on holds (vault_id, subject_type, subject_id) where released_at is null;
create index holds_newest on holds (vault_id, created_at desc, id desc);
create index holds_active_newest on holds (vault_id, created_at desc, id desc) where released_at is null;
create index holds_of_user on holds (subject_id) where subject_type = 'user' and released_at is null;

create trigger holds_log_insert after insert on holds
  referencing new table as changed for each statement execute function log_changes('hold', 'id', 'vault_id');
create trigger holds_log_update after update on holds
  referencing new table as changed for each statement execute function log_changes('hold', 'id', 'vault_id');

-- `hold`: available → reserved; `hold_release` back. The operation of both is the hold.
alter table ledger_entries drop constraint ledger_entries_kind_check;
alter table ledger_entries add constraint ledger_entries_kind_check
  check (kind in ('deposit', 'reserve', 'settle', 'release', 'fee', 'adjust', 'hold', 'hold_release'));

-- Who of the snapshot may vote now: not disabled, no auditor, not held, and still a member of what put them there.
create or replace view entitled_voters as
  select e.vault_id, e.subject_id, e.user_id, e.step_index, e.policy_id, e.group_id
  from approval_eligibilities e
  where coalesce(e.held, exists (
    select from users u
    join policy_group_memberships m on m.vault_id = e.vault_id and m.user_id = u.id
    left join policy_groups g on g.vault_id = e.vault_id and g.id = e.group_id
    where u.id = e.user_id and u.disabled_at is null and not is_auditor(e.vault_id, e.user_id)
      and not exists (select from holds h where h.vault_id = e.vault_id and h.subject_type = 'user'
        and h.subject_id = e.user_id and h.released_at is null)
      and (e.group_id = '' or m.group_id = e.group_id or (g.is_system and g.code = 'everyone'))));
