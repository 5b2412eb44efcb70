-- A copy of a database under the same running server is another database: it has another number there, and the numbers of its tables
-- are those of the original.
create or replace function wallet.present_epoch() returns text language plpgsql as $$
declare
  present constant text := md5(extract(epoch from pg_postmaster_start_time())::text || ' ' || 'wallet.epochs'::regclass::oid::text || ' '
    || (select oid from pg_database where datname = current_database())::text);
begin
  if not exists (select from wallet.epochs where mark = present) then
    perform pg_advisory_xact_lock(7522537965568);
    insert into wallet.epochs (mark, began_after)
      select present, coalesce(max(number), 0) from wallet.changes
      where not exists (select from wallet.epochs where mark = present);
  end if;
  return present;
end $$;
