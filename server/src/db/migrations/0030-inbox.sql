-- What a caller decided and what they asked for, newest first, in each vault of theirs (GET /inbox). What waits for them is
-- found by approval_eligibilities_open.
create index approval_voters_decided on approval_voters (vault_id, user_id, voted_at desc, subject_id desc)
  where decision is not null;
-- Transfers that needed votes, by who ordered them. The payload is what was voted on, and it never changes.
create index transfers_asked_feed on transfers (vault_id, (payload ->> 'initiatorId'), created_at desc, id desc)
  where expires_at is not null;
create index approval_requests_asked_feed on approval_requests (vault_id, initiator_id, created_at desc, id desc);

-- What changed, for GET /changes: ids without content. Readers find what is new by the transaction that wrote a row: what a
-- snapshot did not show and the next one shows, whatever order transactions commit in (docs/decisions/0033-changes.md).
create table changes (
  -- '': what belongs to no vault.
  vault_id text not null,
  xid xid8 not null default pg_current_xact_id(),
  sequence bigint generated always as identity,
  kind text not null,
  id text not null,
  changed_at timestamptz(3) not null default now(),
  -- A node reads the end of it for all vaults at once, so vault_id does not lead.
  primary key (xid, sequence)
);
create index changes_age on changes using brin (changed_at);

-- Once per statement, however many rows it writes.
create function log_operation_changes() returns trigger language plpgsql as $$
begin
  insert into changes (vault_id, kind, id) select c.vault_id, c.type, c.id from changed c;
  return null;
end $$;
create trigger operations_log_inserted after insert on operations
  referencing new table as changed for each statement execute function log_operation_changes();
create trigger operations_log_updated after update on operations
  referencing new table as changed for each statement execute function log_operation_changes();

-- A vote changes what was voted on.
create function log_vote_changes() returns trigger language plpgsql as $$
begin
  insert into changes (vault_id, kind, id)
  select c.vault_id, case when r.id is null then 'transfer' else 'approval_request' end, c.subject_id
  from changed c left join approval_requests r on r.vault_id = c.vault_id and r.id = c.subject_id;
  return null;
end $$;
create trigger approval_voters_log_updated after update on approval_voters
  referencing new table as changed for each statement execute function log_vote_changes();

-- Arguments: the kind, the column that holds the id of what changed, and the column of the vault or ''.
create function log_changes() returns trigger language plpgsql as $$
begin
  execute format('insert into changes (vault_id, kind, id) select distinct %s, %L, c.%I from changed c',
    case when tg_argv[2] = '' then '''''' else format('c.%I', tg_argv[2]) end, tg_argv[0], tg_argv[1]);
  return null;
end $$;

do $$
declare
  source record;
  event text;
begin
  for source in select * from (values
    ('approval_requests', 'approval_request', 'id', 'vault_id', 'insert update'),
    ('addresses', 'address', 'id', 'vault_id', 'insert update'),
    ('address_grants', 'address', 'address_id', 'vault_id', 'insert update delete'),
    ('address_groups', 'address_group', 'id', 'vault_id', 'insert update delete'),
    ('address_group_members', 'address_group', 'group_id', 'vault_id', 'insert delete'),
    ('address_group_grants', 'address_group', 'group_id', 'vault_id', 'insert update delete'),
    ('counterparties', 'counterparty', 'id', 'vault_id', 'insert update'),
    ('counterparty_addresses', 'counterparty', 'counterparty_id', 'vault_id', 'insert update delete'),
    ('counterparty_groups', 'counterparty_group', 'id', 'vault_id', 'insert update'),
    ('counterparty_group_memberships', 'counterparty_group', 'group_id', 'vault_id', 'insert delete'),
    ('policies', 'policy', 'id', 'vault_id', 'insert update delete'),
    ('policy_groups', 'group', 'id', 'vault_id', 'insert update delete'),
    ('policy_group_memberships', 'group', 'group_id', 'vault_id', 'insert delete'),
    ('operation_categories', 'category', 'id', 'vault_id', 'insert update delete'),
    ('adjustments', 'adjustment', 'id', 'vault_id', 'insert'),
    ('vaults', 'vault', 'id', 'id', 'update'),
    ('tokens', 'token', 'id', '', 'insert update'),
    ('token_rates', 'rate', 'token_id', '', 'insert update')
  ) as of (name, kind, key, vault, events) loop
    foreach event in array string_to_array(source.events, ' ') loop
      execute format('create trigger %I after %s on %I referencing %s table as changed for each statement '
        'execute function log_changes(%L, %L, %L)', source.name || '_log_' || event, event, source.name,
        case event when 'delete' then 'old' else 'new' end, source.kind, source.key, source.vault);
    end loop;
  end loop;
end $$;
