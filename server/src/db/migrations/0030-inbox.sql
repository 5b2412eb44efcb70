-- What a caller decided and what they asked for, newest first, in each vault of theirs (GET /inbox). What waits for them is
-- found by approval_eligibilities_open.
create index approval_voters_decided on approval_voters (vault_id, user_id, voted_at desc, subject_id desc)
  where decision is not null;
-- Transfers that needed votes, by who ordered them. The payload is what was voted on, and it never changes.
create index transfers_asked_feed on transfers (vault_id, (payload ->> 'initiatorId'), created_at desc, id desc)
  where expires_at is not null;
create index approval_requests_asked_feed on approval_requests (vault_id, initiator_id, created_at desc, id desc);
