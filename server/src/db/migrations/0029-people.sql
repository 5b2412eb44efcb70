-- Members of a vault in pages, auditors, and what a person's pages remember.

create index policy_group_memberships_member on policy_group_memberships (vault_id, user_id);

-- Auditors read what administrators read, and change nothing. A group of this code that people made keeps its members, its
-- policies and its name, but not the code: who is in it must not come to read the whole vault by an upgrade.
update policy_groups set code = 'auditors-' || id where code = 'auditors';

insert into policy_groups (vault_id, id, code, name, is_system, created_at, updated_at)
select id, 'c' || left(md5(id || ' auditors'), 24), 'auditors', 'Auditors', true, now(), now() from vaults;

-- Whether a user changes nothing in a vault. An administrator who is in the group of the auditors too stays one.
create function is_auditor(vault text, member text) returns boolean language sql stable parallel safe
return coalesce((
  select bool_or(g.code = 'auditors') and not bool_or(g.code = 'administrators')
  from policy_group_memberships m join policy_groups g on g.vault_id = m.vault_id and g.id = m.group_id
  where m.vault_id = vault and m.user_id = member and g.is_system), false);

-- Who of the snapshot may vote now: not disabled, no auditor, and still a member of what put them there.
create or replace view entitled_voters as
  select e.vault_id, e.subject_id, e.user_id, e.step_index, e.policy_id, e.group_id
  from approval_eligibilities e
  where coalesce(e.held, exists (
    select from users u
    join policy_group_memberships m on m.vault_id = e.vault_id and m.user_id = u.id
    left join policy_groups g on g.vault_id = e.vault_id and g.id = e.group_id
    where u.id = e.user_id and u.disabled_at is null and not is_auditor(e.vault_id, e.user_id)
      and (e.group_id = '' or m.group_id = e.group_id or (g.is_system and g.code = 'everyone'))));

-- As JSON text: it is replaced whole, read whole and never searched.
create table user_preferences (
  user_id text primary key references users (id),
  preferences json not null,
  updated_at timestamptz(3) not null
);
