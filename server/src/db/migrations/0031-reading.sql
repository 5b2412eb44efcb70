-- The transfers that somebody ordered, in the order of the feed. It serves the velocity of an initiator too, so that an order
-- writes as many indexes as before.
create index operations_ordered_feed on operations (vault_id, initiator_id, created_at desc, id desc)
  where type = 'transfer';
drop index operations_velocity_initiator;
