-- What an operator watches is found by indexes of what waits.
create index transfers_halted on transfers (created_at) where phase = 'halted';
create index wallet_events_waiting on wallet_events (outcome, received_at) where outcome in ('unmatched', 'quarantined');

-- Every kind of mail: a later constraint must not forget a kind that an earlier migration permits.
alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed', 'stopped', 'stuck', 'quorum_lost'));
