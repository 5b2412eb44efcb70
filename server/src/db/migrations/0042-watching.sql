-- What an operator watches is found by indexes of what waits.
create index transfers_halted on transfers (created_at) where phase = 'halted';
create index wallet_events_waiting on wallet_events (outcome, received_at) where outcome in ('unmatched', 'quarantined');
