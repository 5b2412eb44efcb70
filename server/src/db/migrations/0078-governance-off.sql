-- Governance itself is switched off, changed and deleted by a published version only. The function that guards the other rules asks
-- whether governance is on, and found it off already when it was switched off in the same statement.

create function governance_must_be_published() returns trigger language plpgsql as $$
begin
  if old.threshold > 0 and not exists (
    select from rules_heads h where h.vault_id = old.vault_id and h.published_in = pg_current_xact_id()
  ) then
    raise exception 'the governance of vault % was changed outside of its governance', old.vault_id using errcode = '55000';
  end if;
  return null;
end
$$;
drop trigger governance_governed on governance;
create constraint trigger governance_governed after update or delete on governance
  deferrable initially deferred for each row execute function governance_must_be_published();
