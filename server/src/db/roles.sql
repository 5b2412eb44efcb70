-- Run after every migration: the service works as strongroom_app, which may not rewrite the record.
grant usage on schema public to strongroom_app;
-- Databases of PostgreSQL 14 and older let everybody create functions and tables in it.
revoke create on schema public from strongroom_app, public;
revoke all on all tables in schema public from strongroom_app;
grant select, insert, update, delete on all tables in schema public to strongroom_app;
grant usage, select on all sequences in schema public to strongroom_app;
revoke update, delete, truncate on ledger_entries, audit_records, audit_seals, ledger_seals, wallet_events, adjustments from strongroom_app;
revoke insert, update, delete on schema_migrations, schema_migrations_lock from strongroom_app;
grant update (seal_sequence, mac) on audit_records to strongroom_app;
grant update (outcome, reason, vault_id, deposit_id, quarantined, quarantine_key) on wallet_events to strongroom_app;
revoke update, delete, truncate on holds from strongroom_app;
grant update (released_at, released_by_id, release_reason, reserved, confirmed_by_id, confirmed_at) on holds to strongroom_app;
revoke delete, truncate on screenings from strongroom_app;
revoke update, delete, truncate on rules_versions from strongroom_app;
revoke update, delete, truncate on deposit_orphans, exposure_covers from strongroom_app;
grant update (returned_at) on deposit_orphans to strongroom_app;
revoke delete, truncate on sealing_key from strongroom_app;
revoke update, delete, truncate on signed_votes from strongroom_app;
revoke delete, truncate on service_keys from strongroom_app;
revoke update, delete, truncate on account_keys from strongroom_app;
-- A node of an earlier epoch of the schema writes to no table.
do $$
declare
  writable name;
begin
  -- Only where it is missing, because it takes a lock of the table.
  for writable in select tablename from pg_tables
    where schemaname = 'public' and tablename not like 'schema\_migrations%' and not exists (
      select from pg_trigger where tgrelid = format('%I.%I', schemaname, tablename)::regclass
        and tgname = 'refuse_older_nodes' and tgenabled = 'O') order by tablename loop
    execute format(
      'create or replace trigger refuse_older_nodes before insert or update or delete on %I
       for each statement execute function refuse_older_nodes()', writable);
  end loop;
end
$$;
