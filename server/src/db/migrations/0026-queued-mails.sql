-- Mails wait in a table of the service and no longer in a queue of pg-boss: docs/decisions/0029-one-mail-queue.md.
create table queued_mails (
  id text primary key,
  -- What the mail is written from when it is sent. Tokens are made or unsealed only then, so none is stored here.
  request jsonb not null,
  created_at timestamptz(3) not null,
  attempts smallint not null default 0,
  next_attempt_at timestamptz(3)
);
create index queued_mails_due on queued_mails (next_attempt_at) where next_attempt_at is not null;
comment on column queued_mails.next_attempt_at is 'when to send it, or to send it again unless its sender finishes first; null: given up';

-- Moves the mails that wait in pg-boss. The lock lets transactions that are enqueuing now finish first; a node of the
-- earlier version that enqueues later gets an error, so that no mail is written where nothing reads it.
do $$
begin
  if to_regclass('pgboss.job') is null then return; end if;
  lock table pgboss.job in access exclusive mode;
  insert into queued_mails (id, request, created_at, attempts, next_attempt_at)
  -- Each has at least one of its twenty attempts left. One that is being sent is sent again when its time is over.
  select id::text, data, created_on, least(retry_count, 19),
    case state::text when 'active' then started_on + expire_in else start_after end
  from pgboss.job where name = 'send-mail' and state::text in ('created', 'retry', 'active');
  if exists (select from pgboss.queue where name <> 'send-mail') then
    -- Another program keeps its queues in the same schema.
    delete from pgboss.job where name = 'send-mail';
    perform pgboss.delete_queue('send-mail');
  else
    drop schema pgboss cascade;
  end if;
end $$;
