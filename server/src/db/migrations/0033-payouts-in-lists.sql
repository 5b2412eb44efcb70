-- Payouts in the inbox: what somebody asked for that waited for votes is the payout, and not each of its rows.
create index payouts_asked_feed on payouts (vault_id, initiator_id, created_at desc, id desc) where expires_at is not null;
drop index payouts_of_initiator;
drop index transfers_asked_feed;
create index transfers_asked_feed on transfers (vault_id, (payload ->> 'initiatorId'), created_at desc, id desc)
  where expires_at is not null and payout_id is null;

-- Payouts among what changed.
create trigger payouts_log_insert after insert on payouts
  referencing new table as changed for each statement execute function log_changes('payout', 'id', 'vault_id');
create trigger payouts_log_update after update on payouts
  referencing new table as changed for each statement execute function log_changes('payout', 'id', 'vault_id');

-- A vote changes what was voted on.
create or replace function log_vote_changes() returns trigger language plpgsql as $$
begin
  insert into changes (vault_id, kind, id)
  select c.vault_id, case when r.id is not null then 'approval_request' when p.id is not null then 'payout' else 'transfer' end,
    c.subject_id
  from changed c
  left join approval_requests r on r.vault_id = c.vault_id and r.id = c.subject_id
  left join payouts p on p.vault_id = c.vault_id and p.id = c.subject_id;
  return null;
end $$;
