-- Nodes keep the policies of a vault in memory. What they keep is what is stored as long as the revision is the same: a statement that
-- changes policies or their approvers, whoever sends it, gives the vault a new one. It is random, so that neither a change that was
-- rolled back nor a restored database brings an old revision to new policies.

alter table rules_heads add column revision uuid not null default gen_random_uuid();

insert into rules_heads (vault_id, number) select distinct vault_id, 0 from policies on conflict do nothing;

create function policies_revised() returns trigger language plpgsql as $$
begin
  insert into rules_heads (vault_id, number)
    select distinct vault_id, 0 from changed order by vault_id
    on conflict (vault_id) do update set revision = gen_random_uuid();
  return null;
end
$$;

create trigger policies_inserted after insert on policies
  referencing new table as changed for each statement execute function policies_revised();
create trigger policies_updated after update on policies
  referencing new table as changed for each statement execute function policies_revised();
create trigger policies_deleted after delete on policies
  referencing old table as changed for each statement execute function policies_revised();
create trigger policy_approvers_inserted after insert on policy_approvers
  referencing new table as changed for each statement execute function policies_revised();
create trigger policy_approvers_updated after update on policy_approvers
  referencing new table as changed for each statement execute function policies_revised();
create trigger policy_approvers_deleted after delete on policy_approvers
  referencing old table as changed for each statement execute function policies_revised();
