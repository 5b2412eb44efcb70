-- Books and wallet service may be restored to the same time. Both then work with other databases than at the last comparison, and nobody
-- knows which addresses were made meanwhile, so the next ones are made beyond all of them.
alter table wallet_marks
  -- The databases at the last comparison without a difference, as database_mark and the wallet service name them.
  add column books_database text check (length(books_database) <= 100),
  add column wallet_database text check (length(wallet_database) <= 100),
  -- In all prefixes, new addresses get no index below the last of these.
  add column index_floors bigint[] not null default '{}';

-- Names this database: another one after a restore or a promotion, which begin another timeline, and in a copy.
create function database_mark() returns text language sql as $$
  select md5((select system_identifier from pg_control_system())::text || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || ' ' || (select oid from pg_database where datname = current_database())::text)
$$;
