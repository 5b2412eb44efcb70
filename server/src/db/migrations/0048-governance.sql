-- Nobody changes the rules of a vault alone, if the vault decides so.

create table governance (
  vault_id text primary key references vaults (id),
  -- How many people besides the author must approve; 0: governance is off.
  threshold integer not null check (threshold between 0 and 100),
  -- null: the administrators.
  approver_group_id text,
  loosening_delay_hours integer not null check (loosening_delay_hours >= 0),
  tightening_delay_hours integer not null check (tightening_delay_hours >= 0),
  updated_at timestamptz(3) not null,
  foreign key (vault_id, approver_group_id) references policy_groups (vault_id, id)
);

create table change_sets (
  vault_id text not null references vaults (id),
  id text not null,
  title text not null,
  status text not null
    check (status in ('draft', 'submitted', 'scheduled', 'applied', 'cancelled', 'stale', 'failed')),
  -- It is one change that a direct endpoint asked for.
  is_direct boolean not null,
  author_id text not null references users (id),
  -- The version of the rules that it was drafted on.
  base_version integer not null,
  changes jsonb not null,
  -- The secrets that the changes set, sealed; they stand in no other column.
  secrets bytea,
  -- The rules as they would be, which reviewers compare with the base version.
  document jsonb not null,
  direction text not null check (direction in ('loosening', 'tightening')),
  request_id text,
  apply_at timestamptz(3),
  applied_version integer,
  failure_reason text,
  resolved_by_id text references users (id),
  resolved_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  check ((status = 'scheduled') <= (apply_at is not null)),
  check ((status = 'applied') = (applied_version is not null))
);
create index change_sets_newest on change_sets (vault_id, created_at desc, id desc);
create index change_sets_waiting on change_sets (vault_id) where status in ('submitted', 'scheduled');
create index change_sets_due on change_sets (apply_at) where status = 'scheduled';

-- Tokens that the platform enabled after a vault had governance, and that the vault has not accepted.
create table withheld_tokens (
  vault_id text not null references vaults (id),
  token_id text not null references tokens (id),
  created_at timestamptz(3) not null,
  primary key (vault_id, token_id)
);

-- The last line: in a vault with governance no transaction changes the rules without publishing them as a version.
create function rules_must_be_published() returns trigger language plpgsql as $$
declare
  vault text := case when tg_op = 'DELETE' then old.vault_id else new.vault_id end;
begin
  if exists (select from governance g where g.vault_id = vault and g.threshold > 0) and not exists (
    select from rules_heads h where h.vault_id = vault and h.published_in = pg_current_xact_id()
  ) then
    raise exception 'the rules of vault % were changed outside of its governance', vault using errcode = '55000';
  end if;
  return null;
end
$$;
create constraint trigger policies_governed after insert or update or delete on policies
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger policy_approvers_governed after insert or update or delete on policy_approvers
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger policy_groups_governed after insert or delete on policy_groups
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger memberships_governed after insert or update or delete on policy_group_memberships
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger invitations_governed after insert on invitations
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger category_approvers_governed after insert or update or delete on category_approvers
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger categories_governed after update on operation_categories
  deferrable initially deferred for each row when (
    (old.approval_scope, old.approval_threshold, old.allow_initiator_approval)
      is distinct from (new.approval_scope, new.approval_threshold, new.allow_initiator_approval))
  execute function rules_must_be_published();
create constraint trigger variants_governed after insert or update or delete on variants
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger withheld_tokens_governed after delete on withheld_tokens
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger governance_governed after update or delete on governance
  deferrable initially deferred for each row execute function rules_must_be_published();

-- The wallet service is a column of the vault, whose key has another name.
create function wallet_must_be_published() returns trigger language plpgsql as $$
begin
  if exists (select from governance g where g.vault_id = new.id and g.threshold > 0) and not exists (
    select from rules_heads h where h.vault_id = new.id and h.published_in = pg_current_xact_id()
  ) then
    raise exception 'the wallet service of vault % was changed outside of its governance', new.id using errcode = '55000';
  end if;
  return null;
end
$$;
create constraint trigger vaults_governed after update on vaults
  deferrable initially deferred for each row when (old.wallet_service_url is distinct from new.wallet_service_url)
  execute function wallet_must_be_published();
