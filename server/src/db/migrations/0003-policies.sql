-- Who may do what: groups, memberships, policies; and the votes of whatever waits for approval.

create table policy_groups (
  vault_id text not null references vaults (id),
  id text not null,
  code text not null,
  name text not null,
  description text,
  logo_uri text,
  color text,
  emoji text,
  is_system boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, code)
);
create index policy_groups_id on policy_groups (id);

create table policy_group_memberships (
  vault_id text not null,
  id text not null,
  group_id text not null,
  -- Any string: a membership does not need a user of ours behind it.
  user_id text not null check (length(user_id) between 1 and 128),
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, group_id, user_id),
  foreign key (vault_id, group_id) references policy_groups (vault_id, id) on delete cascade
);
create index policy_group_memberships_user on policy_group_memberships (user_id, vault_id);

create table policies (
  vault_id text not null,
  id text not null,
  group_id text not null,
  code text not null,
  name text not null,
  description text,
  logo_uri text,
  color text,
  emoji text,
  action_type text not null,
  effect text not null check (effect in ('allow', 'block', 'requireApproval')),
  block_reason text,
  approval_threshold integer not null default 0 check (approval_threshold >= 0),
  admin_bypass boolean not null default false,
  allow_initiator_approval boolean not null default false,
  enabled boolean not null default true,
  -- Replaced whole and read whole: [{id, conditionType, createdAt, selectors: [{id, selectorType, value}]}].
  rules jsonb not null default '[]',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, code),
  foreign key (vault_id, group_id) references policy_groups (vault_id, id),
  check (effect <> 'requireApproval' or approval_threshold >= 1)
);
create index policies_id on policies (id);
create index policies_group on policies (vault_id, group_id, action_type) where enabled;

create table policy_approvers (
  vault_id text not null,
  id text not null,
  policy_id text not null,
  kind text not null check (kind in ('user', 'group')),
  user_id text,
  group_id text,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  foreign key (vault_id, policy_id) references policies (vault_id, id) on delete cascade,
  foreign key (vault_id, group_id) references policy_groups (vault_id, id),
  check ((kind = 'user') = (user_id is not null)),
  check ((kind = 'group') = (group_id is not null))
);
create index policy_approvers_policy on policy_approvers (vault_id, policy_id);

-- The approval engine knows no target: subject_id is the transfer or request that waits.
create table approval_requirements (
  vault_id text not null,
  subject_id text not null,
  step_index smallint not null default 0,
  policy_id text not null,
  policy_code text not null,
  policy_name text not null,
  threshold integer not null check (threshold >= 1),
  allow_initiator boolean not null,
  bypassed boolean not null default false,
  created_at timestamptz(3) not null,
  primary key (vault_id, subject_id, step_index, policy_id)
);

create table approval_voters (
  vault_id text not null,
  id text not null,
  subject_id text not null,
  user_id text not null,
  decision text check (decision in ('approve', 'reject')),
  comment text,
  voted_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (vault_id, subject_id, user_id),
  check ((decision is null) = (voted_at is null))
);
create index approval_voters_waiting on approval_voters (vault_id, user_id, created_at) where decision is null;

-- What put a voter into the snapshot: explicitly (group_id '') or as a member of a group.
create table approval_eligibilities (
  vault_id text not null,
  subject_id text not null,
  user_id text not null,
  step_index smallint not null default 0,
  policy_id text not null,
  group_id text not null default '',
  -- null while the subject waits; then whether it still held when the subject was resolved.
  held boolean,
  primary key (vault_id, subject_id, user_id, step_index, policy_id, group_id)
);

-- Who of the snapshot may vote now: not disabled, and still a member of what put them there.
create view entitled_voters as
  select e.vault_id, e.subject_id, e.user_id, e.step_index, e.policy_id, e.group_id
  from approval_eligibilities e
  where coalesce(e.held, exists (
    select from users u
    join policy_group_memberships m on m.vault_id = e.vault_id and m.user_id = u.id
    left join policy_groups g on g.vault_id = e.vault_id and g.id = e.group_id
    where u.id = e.user_id and u.disabled_at is null
      and (e.group_id = '' or m.group_id = e.group_id or (g.is_system and g.code = 'everyone'))));

create table invitations (
  vault_id text not null references vaults (id),
  id text not null,
  email text not null,
  token_hash bytea not null unique,
  -- Administrators may read the token again (interface.md, GET /invitations/{id}), so it is sealed, not only hashed.
  token_sealed bytea not null,
  status text not null default 'pending' check (status in ('pending', 'accepted', 'revoked')),
  created_by_id text not null references users (id),
  accepted_at timestamptz(3),
  accepted_user_id text references users (id),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  check ((status = 'accepted') = (accepted_at is not null)),
  check ((status = 'revoked') = (revoked_at is not null))
);
create unique index invitations_pending on invitations (vault_id, email) where status = 'pending';
create index invitations_email on invitations (email) where status = 'pending';
create index invitations_feed on invitations (vault_id, created_at desc, id desc);
create index invitations_id on invitations (id);

create table invitation_groups (
  vault_id text not null,
  id text not null,
  invitation_id text not null,
  group_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, invitation_id, group_id),
  foreign key (vault_id, invitation_id) references invitations (vault_id, id),
  foreign key (vault_id, group_id) references policy_groups (vault_id, id) on delete cascade
);

create table service_tokens (
  vault_id text not null references vaults (id),
  id text not null,
  user_id text not null references users (id),
  name text not null,
  token_hash bytea not null unique,
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (vault_id, id)
);
