-- What the velocity selectors add up: the transfers of one scope since a moment. Partial, so that deposits write none of
-- these; and without the status, which changes, so that updates of it stay heap-only.
create index operations_velocity_initiator on operations (vault_id, initiator_id, created_at) where type = 'transfer';
create index operations_velocity_source on operations (vault_id, address_id, created_at) where type = 'transfer';
create index operations_velocity_vault on operations (vault_id, created_at) where type = 'transfer';
create index transfers_velocity_destination on transfers (vault_id, to_address_key, created_at);
