-- What is left to do with a transfer that has not ended, apart from its wide row: the queues walk this table only, and no index of
-- transfers has a column that a delivery changes.
create table deliveries (
  vault_id text not null,
  id text not null,
  -- It waits for votes, to be handed over, for an answer about what was handed over, or for people.
  queue text not null check (queue in ('votes', 'hand-over', 'follow', 'halted')),
  -- When somebody must look at it. A claim is a lease: it moves this to the moment when another node may. null: never.
  next_attempt_at timestamptz(3),
  -- Attempts that failed, and questions that were answered with nothing new, one after the other.
  attempts smallint not null default 0,
  asked smallint not null default 0,
  primary key (vault_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
insert into deliveries (vault_id, id, queue, next_attempt_at, attempts)
  select vault_id, id,
    case when phase = 'waiting' then 'votes' when phase = 'halted' then 'halted'
      when phase in ('queued', 'submitting') or replacement_due then 'hand-over' else 'follow' end,
    case when phase = 'waiting' and payout_id is null then expires_at else next_attempt_at end, attempts
  from transfers
  where phase = 'waiting' or phase = 'halted' or phase in ('queued', 'submitting', 'submitted', 'broadcast');
create index deliveries_due on deliveries (queue, vault_id, next_attempt_at);

-- A fee that the account of the address could not bear when the transfer ended. It seldom is, so that its index seldom changes.
alter table transfers add column fee_owed boolean not null default false;
update transfers set fee_owed = true where fee is not null and not fee_posted;
create index transfers_fee_owed on transfers (vault_id) where fee_owed;

alter table transfers drop column attempts, drop column next_attempt_at, drop column fee_posted;
drop index transfers_expiry, transfers_halted, transfers_in_flight;
