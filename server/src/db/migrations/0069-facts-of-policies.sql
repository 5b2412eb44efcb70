-- What policies see of an order belongs to the rules: who may declare a category, and which addresses a folder has that a rule names.

-- The folders that rules of the policies of a vault name.
create function folders_of_rules(vault text) returns setof text language sql stable as $$
  select distinct named #>> '{}' from policies p
  cross join lateral jsonb_path_query(p.rules, '$[*].selectors[*] ? (@.selectorType == "addressGroup").value[*]') named
  where p.vault_id = vault
$$;

create constraint trigger category_grants_governed after insert or update or delete on category_grants
  deferrable initially deferred for each row execute function rules_must_be_published();
create constraint trigger category_rights_governed after update on operation_categories
  deferrable initially deferred for each row when (
    (old.applies_to, old.view_scope, old.assign_scope, old.edit_scope, old.archived)
      is distinct from (new.applies_to, new.view_scope, new.assign_scope, new.edit_scope, new.archived))
  execute function rules_must_be_published();
create constraint trigger category_fields_governed after update on category_fields
  deferrable initially deferred for each row when (
    (old.required, old.default_json is null, old.archived, old.sensitive)
      is distinct from (new.required, new.default_json is null, new.archived, new.sensitive))
  execute function rules_must_be_published();
create constraint trigger category_fields_made_governed after insert on category_fields
  deferrable initially deferred for each row when (new.required or new.sensitive)
  execute function rules_must_be_published();
create constraint trigger category_fields_gone_governed after delete on category_fields
  deferrable initially deferred for each row when (old.required or old.sensitive)
  execute function rules_must_be_published();

create function folder_must_be_published() returns trigger language plpgsql as $$
declare
  vault text := case when tg_op = 'DELETE' then old.vault_id else new.vault_id end;
  -- A row of a folder has the folder as its id, one of an address in it as its group_id.
  changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
  folder text := coalesce(changed ->> 'group_id', changed ->> 'id');
begin
  if exists (select from governance g where g.vault_id = vault and g.threshold > 0)
    and folder in (select folders_of_rules(vault))
    and not exists (select from rules_heads h where h.vault_id = vault and h.published_in = pg_current_xact_id())
  then
    raise exception 'a folder that a rule names was changed outside of the governance of vault %', vault using errcode = '55000';
  end if;
  return null;
end
$$;
create constraint trigger folder_names_governed after update on address_groups
  deferrable initially deferred for each row when (old.name is distinct from new.name)
  execute function folder_must_be_published();
create constraint trigger folders_governed after insert or update or delete on address_group_members
  deferrable initially deferred for each row execute function folder_must_be_published();
