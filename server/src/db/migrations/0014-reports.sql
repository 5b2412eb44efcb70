-- Which address was in which folder when: what reports by historical folders read. Kept by triggers, so that no writer of
-- memberships can forget it; deleting a folder deletes its memberships, which the first trigger sees too.

create table address_group_membership_log (
  vault_id text not null,
  group_id text not null,
  address_id text not null,
  added_at timestamptz(3) not null,
  -- null: still in the folder.
  removed_at timestamptz(3),
  -- Set when the folder was deleted: what it was called, and who managed it.
  group_name text,
  manager_id text,
  primary key (vault_id, address_id, group_id, added_at)
);
create index address_group_membership_log_of_group on address_group_membership_log (vault_id, group_id);

insert into address_group_membership_log (vault_id, group_id, address_id, added_at)
  select vault_id, group_id, address_id, created_at from address_group_members;

create function log_address_group_member() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into address_group_membership_log (vault_id, group_id, address_id, added_at)
    values (new.vault_id, new.group_id, new.address_id, new.created_at)
    on conflict (vault_id, address_id, group_id, added_at) do update set removed_at = null;
  else
    update address_group_membership_log set removed_at = greatest(now(), added_at)
    where vault_id = old.vault_id and address_id = old.address_id and group_id = old.group_id and removed_at is null;
  end if;
  return null;
end $$;
create trigger address_group_members_log after insert or delete on address_group_members
  for each row execute function log_address_group_member();

create function log_address_group_deletion() returns trigger language plpgsql as $$
begin
  update address_group_membership_log set group_name = old.name, manager_id = old.created_by_id
  where vault_id = old.vault_id and group_id = old.id;
  return old;
end $$;
create trigger address_groups_log before delete on address_groups
  for each row execute function log_address_group_deletion();
