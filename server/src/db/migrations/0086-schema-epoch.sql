-- The epoch of the schema: a migration that nodes of the version before cannot work with raises it, with
-- `create or replace function schema_epoch()`. Every connection of the service says its epoch in the setting strongroom.epoch, and
-- the tables refuse the writes of older ones. roles.sql gives each table the trigger.
create function schema_epoch() returns integer language sql stable as 'select 1';

-- 25006 (read_only_sql_transaction) is a 503 with Retry-After for nodes of every version.
create function refuse_older_nodes() returns trigger language plpgsql as $$
begin
  if current_user = 'strongroom_app'
    and coalesce(nullif(current_setting('strongroom.epoch', true), ''), '0')::integer < schema_epoch()
  then
    raise read_only_sql_transaction using
      message = 'this node is of an earlier version than the database, which takes none of its writes';
  end if;
  return null;
end
$$;
